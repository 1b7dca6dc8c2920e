// Writes text into a buffer that grows. Concatenating a string for each record of a long list costs several times as much,
// mostly for garbage collection.

const MAX_UTF8_OCTETS = 3; // of a UTF-16 code unit
const SPACE = 0x20;
/** A loop is faster than a call for fewer octets. */
const FEW = 32;

/** A set of ASCII characters: 1 at the code of each. */
export type Characters = Uint8Array;

export function charactersOf(pattern: RegExp): Characters {
  return Uint8Array.from({ length: 128 }, (_, code) => (pattern.test(String.fromCharCode(code)) ? 1 : 0));
}

/** The characters of a text from `from` to before `to`. */
export interface PartOfText {
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

export class OctetWriter {
  /** Number of octets written. A lower value discards the last ones. */
  end = 0;
  #octets: Buffer;

  constructor(size: number) {
    this.#octets = Buffer.allocUnsafeSlow(size);
  }

  get written(): Buffer {
    return this.#octets.subarray(0, this.end);
  }

  put(octets: Uint8Array): void {
    const to = this.#reserve(octets.length);
    const { length } = octets;
    const at = this.end;
    if (length >= FEW) to.set(octets, at);
    else for (let i = 0; i < length; i++) to[at + i] = octets[i] as number;
    this.end = at + length;
  }

  putText(text: string): void {
    const to = this.#reserve(text.length * MAX_UTF8_OCTETS);
    this.end += to.write(text, this.end);
  }

  /** Returns false at a character that is not `allowed`. */
  copy({ text, from, to }: PartOfText, allowed: Characters): boolean {
    const octets = this.#reserve(to - from);
    let at = this.end;
    for (let i = from; i < to; i++) {
      const code = text.charCodeAt(i);
      if (allowed[code] !== 1) return false;
      octets[at++] = code;
    }
    this.end = at;
    return true;
  }

  /** Fills up to the position with spaces. */
  padTo(position: number): void {
    const octets = this.#reserve(Math.max(0, position - this.end));
    while (this.end < position) octets[this.end++] = SPACE;
  }

  /** Repeats the octets from `from` to before `to`. */
  repeat(from: number, to: number): void {
    const octets = this.#reserve(to - from);
    let at = this.end;
    for (let i = from; i < to; i++) octets[at++] = octets[i] as number;
    this.end = at;
  }

  #reserve(count: number): Buffer {
    const needed = this.end + count;
    if (needed <= this.#octets.length) return this.#octets;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#octets.length));
    this.#octets.copy(larger, 0, 0, this.end);
    this.#octets = larger;
    return larger;
  }
}
