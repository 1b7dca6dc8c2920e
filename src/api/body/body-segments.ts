// The octets of a body, copied together as they arrive: a body of a million chunks of one octet takes no more memory
// than one chunk.

const FIRST_OCTETS = 4096;
const MAX_SEGMENT_OCTETS = 1024 * 1024;

export class BodySegments {
  readonly #full: Uint8Array[] = [];
  #open = new Uint8Array(0);
  #used = 0;
  #octets = 0;

  get octets(): number {
    return this.#octets;
  }

  add(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length; ) {
      if (this.#used === this.#open.length) this.#next();
      const part = chunk.subarray(at, at + this.#open.length - this.#used);
      this.#open.set(part, this.#used);
      this.#used += part.length;
      at += part.length;
    }
    this.#octets += chunk.length;
  }

  /** Each segment has a buffer of its own, which can be transferred to a thread. */
  list(): Uint8Array<ArrayBuffer>[] {
    return [...this.#full, this.#open.subarray(0, this.#used)] as Uint8Array<ArrayBuffer>[];
  }

  #next(): void {
    if (this.#used > 0) this.#full.push(this.#open);
    this.#open = new Uint8Array(Math.min(MAX_SEGMENT_OCTETS, Math.max(FIRST_OCTETS, this.#octets)));
    this.#used = 0;
  }
}
