// A growing stack of Int32 values, which stores millions of numbers without an object each.

export class IntStack {
  length = 0;
  #items = new Int32Array(0);

  push(value: number): void {
    if (this.length === this.#items.length) {
      const grown = new Int32Array(Math.max(16, this.length * 2));
      grown.set(this.#items);
      this.#items = grown;
    }
    this.#items[this.length++] = value;
  }

  /** Returns the last value, or 0 if the stack is empty. */
  pop(): number {
    return this.length === 0 ? 0 : (this.#items[--this.length] as number);
  }

  clear(): void {
    this.length = 0;
  }

  forEach(visit: (value: number) => void): void {
    for (let i = 0; i < this.length; i++) visit(this.#items[i] as number);
  }

  slice(): Int32Array {
    return this.#items.slice(0, this.length);
  }
}
