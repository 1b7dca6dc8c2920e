// Writes a message into a given buffer, with name compression (RFC 1035 §4.1.4) and a size limit. A record that does
// not fit is removed whole. Names keep their octets: only an owner written as 'folded' may point to a name of other
// case.

import { foldCase, type Name, ROOT } from '../name.ts';
import { nameFields } from '../record/rdata.ts';

export const HEADER_OCTETS = 12;

const MAX_POINTER = 0x3fff;

/** How an owner may be compressed: against any case of the same name, or only the same octets. */
export type OwnerCase = 'folded' | 'exact';

export class MessageWriter {
  octets: Uint8Array = new Uint8Array(0);
  length = 0;
  /** The offset after which no record may end. */
  limit = 0;
  /** The offsets of names that may be pointed to, by their octets. */
  readonly #offsets = new Map<string, number>();
  /** The same offsets by folded octets, only where those differ. */
  readonly #foldedOffsets = new Map<string, number>();
  #foldedQuestion: Name | undefined;
  #questionIndexed = false;

  /** Starts a message of at most `limit` octets in `octets`. */
  begin(octets: Uint8Array, limit: number): void {
    this.octets = octets;
    this.limit = Math.min(limit, octets.length);
    this.length = HEADER_OCTETS;
    octets.fill(0, 0, HEADER_OCTETS);
    this.#forget();
  }

  #forget(): void {
    if (this.#offsets.size > 0) this.#offsets.clear();
    if (this.#foldedOffsets.size > 0) this.#foldedOffsets.clear();
    this.#foldedQuestion = undefined;
    this.#questionIndexed = false;
  }

  /**
   * Takes over the one question of a query as it is, octets 12 to `end`, so that its case is echoed. Most answers need
   * no other name: its suffixes are indexed when the first one does.
   */
  adoptQuestion(query: Uint8Array, end: number, folded: Name): void {
    for (let i = HEADER_OCTETS; i < end; i++) this.octets[i] = query[i] as number;
    this.length = end;
    this.#foldedQuestion = folded;
    this.setCount(0, 1);
  }

  setCount(section: 0 | 1 | 2 | 3, count: number): void {
    this.#set16(4 + section * 2, count);
  }

  write16(value: number): void {
    this.#set16(this.length, value);
    this.length += 2;
  }

  write32(value: number): void {
    this.#set16(this.length, value >>> 16);
    this.#set16(this.length + 2, value);
    this.length += 4;
  }

  writeOctets(octets: Uint8Array): void {
    this.octets.set(octets, this.length);
    this.length += octets.length;
  }

  #set16(at: number, value: number): void {
    this.octets[at] = value >> 8;
    this.octets[at + 1] = value;
  }

  /** Writes one question, or nothing and false when it does not fit. */
  writeQuestion(name: Name, type: number, questionClass: number): boolean {
    const start = this.length;
    if (!this.writeName(name, 'exact') || this.length + 4 > this.limit) return this.takeBack(start);
    this.write16(type);
    this.write16(questionClass);
    return true;
  }

  /** Writes one record, or nothing and false when it does not fit. */
  writeRecord(
    owner: Name,
    ownerCase: OwnerCase,
    type: number,
    recordClass: number,
    ttl: number,
    rdata: Uint8Array,
  ): boolean {
    const start = this.length;
    if (!this.writeName(owner, ownerCase) || this.length + 10 > this.limit) return this.takeBack(start);
    this.write16(type);
    this.write16(recordClass);
    this.write32(ttl);
    const lengthAt = this.length;
    this.length += 2;
    if (!this.#writeRdata(type, rdata)) return this.takeBack(start);
    this.#set16(lengthAt, this.length - lengthAt - 2);
    return true;
  }

  /** Forgets everything from `start` on; false, for the caller to return. */
  takeBack(start: number): false {
    this.length = start;
    for (const [name, at] of this.#offsets) if (at >= start) this.#offsets.delete(name);
    for (const [name, at] of this.#foldedOffsets) if (at >= start) this.#foldedOffsets.delete(name);
    return false;
  }

  // RFC 3597 §4: only the names in rdata of RFC 1035 types are compressed.
  #writeRdata(type: number, rdata: Uint8Array): boolean {
    const fields = nameFields(type);
    if (fields.length === 0) return this.#copy(rdata, 0, rdata.length);
    let at = 0;
    for (const field of fields) {
      if (!this.#copy(rdata, at, at + field.skip)) return false;
      at += field.skip;
      const end = endOfName(rdata, at);
      if (!this.writeName(nameOf(rdata, at, end), 'exact')) return false;
      at = end;
    }
    return this.#copy(rdata, at, rdata.length);
  }

  #copy(octets: Uint8Array, from: number, to: number): boolean {
    if (this.length + to - from > this.limit) return false;
    // Rdata is mostly a few octets long, where a loop is faster than a view and `set`.
    if (to - from > 64) this.octets.set(octets.subarray(from, to), this.length);
    else for (let i = from; i < to; i++) this.octets[this.length + i - from] = octets[i] as number;
    this.length += to - from;
    return true;
  }

  /** Writes a name, the longest known suffix as a pointer. False when it does not fit; then take back. */
  writeName(name: Name, nameCase: OwnerCase): boolean {
    if (nameCase === 'folded' && name === this.#foldedQuestion && name !== ROOT) {
      return this.#writePointer(HEADER_OCTETS);
    }
    if (!this.#questionIndexed && this.#foldedQuestion !== undefined) this.#indexQuestion();
    let i = 0;
    for (; name.charCodeAt(i) !== 0; i += name.charCodeAt(i) + 1) {
      const suffix = i === 0 ? name : name.slice(i);
      const offset =
        this.#offsets.get(suffix) ?? (nameCase === 'folded' ? this.#foldedOffsets.get(suffix) : undefined);
      if (offset !== undefined) return this.#writePointer(offset);
      if (!this.#writeLabel(name, i, suffix)) return false;
    }
    if (this.length + 1 > this.limit) return false;
    this.octets[this.length++] = 0;
    return true;
  }

  #writePointer(offset: number): boolean {
    if (this.length + 2 > this.limit) return false;
    this.write16(0xc000 | offset);
    return true;
  }

  #writeLabel(name: Name, at: number, suffix: string): boolean {
    const octets = name.charCodeAt(at) + 1;
    if (this.length + octets > this.limit) return false;
    this.#index(suffix, this.length);
    for (let i = 0; i < octets; i++) this.octets[this.length + i] = name.charCodeAt(at + i);
    this.length += octets;
    return true;
  }

  #index(suffix: string, offset: number): void {
    if (offset > MAX_POINTER) return;
    this.#offsets.set(suffix, offset);
    if (!HAS_UPPER_CASE.test(suffix)) return;
    const folded = foldCase(suffix as Name);
    if (!this.#foldedOffsets.has(folded)) this.#foldedOffsets.set(folded, offset);
  }

  #indexQuestion(): void {
    this.#questionIndexed = true;
    const name = nameOf(this.octets, HEADER_OCTETS, endOfName(this.octets, HEADER_OCTETS));
    for (let i = 0; name.charCodeAt(i) !== 0; i += name.charCodeAt(i) + 1) {
      this.#index(name.slice(i), HEADER_OCTETS + i);
    }
  }
}

const HAS_UPPER_CASE = /[A-Z]/;

function endOfName(rdata: Uint8Array, at: number): number {
  let end = at;
  while (rdata[end] !== 0 && end < rdata.length) end += (rdata[end] as number) + 1;
  return end + 1;
}

function nameOf(rdata: Uint8Array, from: number, to: number): Name {
  let name = '';
  for (let i = from; i < to; i++) name += String.fromCharCode(rdata[i] as number);
  return name as Name;
}
