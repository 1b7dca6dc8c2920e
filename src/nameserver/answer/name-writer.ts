// Writes names into a message, compressed (RFC 1035 §4.1.4), and remembers where the names of the answer's chain stand.
// A `place` is an offset in the message; all other positions are indexes of the buffer, which may hold several
// messages.

import type { FoldedName } from '../image/find/folded-name.ts';

const HEADER_OCTETS = 12;
export const MAX_POINTER = 0x3fff;
/** How many names and suffixes are remembered for pointers. Beyond that, names are only written longer. */
const MAX_KNOWN = 64;

export class NameWriter {
  out: Uint8Array = new Uint8Array(0);
  view: DataView = new DataView(new ArrayBuffer(0));
  /** Where the message starts, where its next octet goes, and where its room ends. */
  base = 0;
  at = 0;
  limit = 0;
  /** The names of the answer's CNAME chain; the first is the question's. */
  readonly names: readonly FoldedName[];
  readonly question: FoldedName;
  /** The place of each name of the chain. */
  protected readonly namePlace: Int32Array;
  /** How many names are known. */
  protected known = 0;
  readonly #knownPlaces = new Uint16Array(MAX_KNOWN);
  #knowsQuestion = false;

  constructor(names: readonly FoldedName[]) {
    this.names = names;
    this.question = names[0] as FoldedName;
    this.namePlace = new Int32Array(names.length).fill(HEADER_OCTETS);
  }

  /** Begins a message of at most `limit` octets at `base`. It must start with a header and the chain's first name. */
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

  /** Copies octets to the end; the caller knows that there is room. */
  copyFrom(source: DataView, from: number, octets: number): void {
    const { view } = this;
    let to = this.at;
    const end = to + octets;
    let at = from;
    for (; to + 4 <= end; to += 4, at += 4) view.setInt32(to, source.getInt32(at, true), true);
    for (; to < end; to++, at++) view.setUint8(to, source.getUint8(at));
    this.at = end;
  }

  /** The place of the suffix, beginning with a label, of a name of the chain. */
  placeOf(name: number, label: number): number {
    if (name === 0) return HEADER_OCTETS + (this.question.labelAt[label] as number);
    const { out, base } = this;
    let place = this.resolve(this.namePlace[name] as number);
    for (let left = label; left > 0; left--) place = this.resolve(place + (out[base + place] as number) + 1);
    return place;
  }

  /** The place itself, or the place to which the pointer there leads. */
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

  /**
   * Writes the suffix of a folded name, beginning with a label, as an owner: any case of the question's name is
   * correct.
   */
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

  /** Writes an uncompressed name with exactly its octets. */
  writeName(name: Uint8Array): boolean {
    if (!this.#knowsQuestion) {
      this.#knowsQuestion = true;
      this.learnName(HEADER_OCTETS);
    }
    const { out } = this;
    const known = this.known; // not those of this name: it is not complete
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

  /** Remembers the name at a place, with all its suffixes that stand there, as a target of pointers. */
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

  /** The place of the suffix of `name` that begins at `from`, among the first so many known names; -1: not found. */
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
