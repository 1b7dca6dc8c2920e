// The bytes of a body, copied together as they arrive: a body of a million chunks of one byte takes no more memory
// than one chunk.

const FIRST_BYTES = 4096;
const MAX_SEGMENT_BYTES = 1024 * 1024;

export class BodySegments {
  readonly #full: Uint8Array[] = [];
  #open = new Uint8Array(0);
  #used = 0;
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  add(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length; ) {
      if (this.#used === this.#open.length) this.#next();
      const part = chunk.subarray(at, at + this.#open.length - this.#used);
      this.#open.set(part, this.#used);
      this.#used += part.length;
      at += part.length;
    }
    this.#bytes += chunk.length;
  }

  /** Each segment has a buffer of its own, which can be transferred to a thread. */
  list(): Uint8Array<ArrayBuffer>[] {
    return [...this.#full, this.#open.subarray(0, this.#used)] as Uint8Array<ArrayBuffer>[];
  }

  #next(): void {
    if (this.#used > 0) this.#full.push(this.#open);
    this.#open = new Uint8Array(Math.min(MAX_SEGMENT_BYTES, Math.max(FIRST_BYTES, this.#bytes)));
    this.#used = 0;
  }
}
