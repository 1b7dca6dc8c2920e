// Blocks that wait for their readers, in the order of retirement: a growing ring.

export class RetiredBlocks {
  length = 0;
  #first = 0;
  #refs = new Int32Array(64);
  #classes = new Int32Array(64);
  #epochs = new Int32Array(64);

  add(ref: number, sizeClass: number, epoch: number): void {
    if (this.length === this.#refs.length) this.#grow();
    const at = (this.#first + this.length++) & (this.#refs.length - 1);
    this.#refs[at] = ref;
    this.#classes[at] = sizeClass;
    this.#epochs[at] = epoch;
  }

  /** Returns the size class of the first block if it was retired before that epoch, else 0. */
  classOfFirst(beforeEpoch: number): number {
    const isBefore = (((this.#epochs[this.#first] as number) - beforeEpoch) | 0) < 0;
    return this.length > 0 && isBefore ? (this.#classes[this.#first] as number) : 0;
  }

  /** Removes and returns the first block. The list must not be empty. */
  takeFirst(): number {
    const ref = this.#refs[this.#first] as number;
    this.#first = (this.#first + 1) & (this.#refs.length - 1);
    this.length--;
    return ref;
  }

  forEach(visit: (ref: number, sizeClass: number) => void): void {
    for (let i = 0; i < this.length; i++) {
      const at = (this.#first + i) & (this.#refs.length - 1);
      visit(this.#refs[at] as number, this.#classes[at] as number);
    }
  }

  #grow(): void {
    this.#refs = this.#unrolled(this.#refs);
    this.#classes = this.#unrolled(this.#classes);
    this.#epochs = this.#unrolled(this.#epochs);
    this.#first = 0;
  }

  #unrolled(ring: Int32Array): Int32Array<ArrayBuffer> {
    const grown = new Int32Array(ring.length * 2);
    grown.set(ring.subarray(this.#first));
    grown.set(ring.subarray(0, this.#first), ring.length - this.#first);
    return grown;
  }
}
