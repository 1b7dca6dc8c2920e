// Writes names into a message with compression (RFC 1035 §4.1.4), and records the offsets of the names in the answer's
// CNAME chain. A `place` is an offset in the message. All other positions are indexes of the buffer, which may hold
// several messages.

import type { FoldedName } from '../image/find/folded-name.ts';

const HEADER_OCTETS = 12;
export const MAX_POINTER = 0x3fff;
/** Number of names and suffixes kept as pointer targets. Further names are written without becoming targets. */
const MAX_KNOWN = 64;

export class NameWriter {
  out: Uint8Array = new Uint8Array(0);
  view: DataView = new DataView(new ArrayBuffer(0));
  /** Start of the message, position of its next octet, and end of its space. */
  base = 0;
  at = 0;
  limit = 0;
  /** The names of the answer's CNAME chain. The first is the query name, which differs with each message. */
  readonly names: readonly FoldedName[];
  /** Place of each name in the chain. */
  protected readonly namePlace: Int32Array;
  /** Number of known names. */
  protected known = 0;
  readonly #knownPlaces = new Uint16Array(MAX_KNOWN);
  #knowsQuestion = false;

  constructor(names: readonly FoldedName[]) {
    this.names = names;
    this.namePlace = new Int32Array(names.length).fill(HEADER_OCTETS);
  }

  get question(): FoldedName {
    return this.names[0] as FoldedName;
  }

  /** Begins a message of at most `limit` octets at `base`. It must start with a header and the first name of the chain. */
  begin(out: Uint8Array, base: number, limit: number): void {
    if (out !== this.out) {
      this.out = out;
      this.view = new DataView(out.buffer, out.byteOffset, out.byteLength);
    }
    this.base = base;
    this.at = base;
    this.limit = base + limit;
    this.known = 0;
    this.#knowsQuestion = false;
  }

  /** Appends octets. The caller must have checked that there is space. */
  copyFrom(source: DataView, from: number, octets: number): void {
    const { view } = this;
    let to = this.at;
    const end = to + octets;
    let at = from;
    for (; to + 4 <= end; to += 4, at += 4) view.setInt32(to, source.getInt32(at, true), true);
    for (; to < end; to++, at++) view.setUint8(to, source.getUint8(at));
    this.at = end;
  }

  /** Returns the place of the suffix of a chain name that begins at `label`. */
  placeOf(name: number, label: number): number {
    if (name === 0) return HEADER_OCTETS + (this.question.labelAt[label] as number);
    const { out, base } = this;
    let place = this.resolve(this.namePlace[name] as number);
    for (let left = label; left > 0; left--) place = this.resolve(place + (out[base + place] as number) + 1);
    return place;
  }

  /** Follows pointers: returns `from`, or the place that the pointer there leads to. */
  resolve(from: number): number {
    const { out, base } = this;
    let place = from;
    for (;;) {
      const label = out[base + place] as number;
      if (label < 0xc0) return place;
      place = ((label & 0x3f) << 8) | (out[base + place + 1] as number);
    }
  }

  writePointer(place: number): boolean {
    if (this.at + 2 > this.limit) return false;
    this.view.setUint16(this.at, 0xc000 | place);
    this.at += 2;
    return true;
  }

  /** Writes the suffix of a folded name that begins at a label, as an owner. The case of the query name may be reused. */
  writeFolded(name: FoldedName, from: number): boolean {
    const { question, out } = this;
    let label = from;
    for (; label < name.labels; label++) {
      const questionLabel = question.labels - (name.labels - label);
      if (questionLabel >= 0 && name.endsAs(label, question, questionLabel)) {
        return this.writePointer(HEADER_OCTETS + (question.labelAt[questionLabel] as number));
      }
      const start = name.labelAt[label] as number;
      const end = name.labelAt[label + 1] as number;
      if (this.at + end - start > this.limit) return false;
      for (let i = start; i < end; i++) out[this.at++] = name.octets[i] as number;
    }
    return this.#writeRoot();
  }

  /** Writes a name and preserves the case of its octets. */
  writeName(name: Uint8Array): boolean {
    if (!this.#knowsQuestion) {
      this.#knowsQuestion = true;
      this.learnName(HEADER_OCTETS);
    }
    const { out } = this;
    const known = this.known; // excludes the suffixes of this name, which is incomplete
    for (let i = 0; name[i] !== 0; ) {
      const place = this.#find(name, i, known);
      if (place >= 0) return this.writePointer(place);
      const end = i + (name[i] as number) + 1;
      if (this.at + end - i > this.limit) return false;
      this.#learn(this.at - this.base);
      for (; i < end; i++) out[this.at++] = name[i] as number;
    }
    return this.#writeRoot();
  }

  #writeRoot(): boolean {
    if (this.at + 1 > this.limit) return false;
    this.out[this.at++] = 0;
    return true;
  }

  /** Adds the name at a place, and all its suffixes up to the first pointer, to the pointer targets. */
  learnName(from: number): void {
    const { out, base } = this;
    let place = from;
    for (let label = out[base + place] as number; label !== 0 && label < 0xc0; ) {
      this.#learn(place);
      place += label + 1;
      label = out[base + place] as number;
    }
  }

  #learn(place: number): void {
    if (place <= MAX_POINTER && this.known < MAX_KNOWN) this.#knownPlaces[this.known++] = place;
  }

  /** Returns the place of the suffix of `name` that begins at `from` among the first `known` names, or -1. */
  #find(name: Uint8Array, from: number, known: number): number {
    for (let i = 0; i < known; i++) {
      const place = this.#knownPlaces[i] as number;
      if (this.#isAt(name, from, place)) return place;
    }
    return -1;
  }

  #isAt(name: Uint8Array, from: number, at: number): boolean {
    const { out, base } = this;
    let i = from;
    for (let place = at; ; ) {
      place = this.resolve(place);
      const label = out[base + place] as number;
      if (label !== name[i]) return false;
      if (label === 0) return true;
      for (const end = i + label; i < end; ) if (out[base + ++place] !== name[++i]) return false;
      place++;
      i++;
    }
  }
}
