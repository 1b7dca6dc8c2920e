// A cache with expiry times and a maximum number of entries. It keeps two generations instead of a usage list: when the
// young one is full, it becomes the old one, and an entry found in the old one moves to the young one. Other hits move
// nothing.

interface Entry<V> {
  readonly value: V;
  readonly expiresAt: number;
}

export class ExpiringCache<V> {
  readonly #half: number;
  #young = new Map<string, Entry<V>>();
  #old = new Map<string, Entry<V>>();

  constructor(capacity: number) {
    this.#half = Math.max(1, Math.floor(capacity / 2));
  }

  /** Number of entries, at most the capacity. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }

  get(key: string, now: number): V | undefined {
    const entry = this.#find(key);
    return entry === undefined || entry.expiresAt <= now ? undefined : entry.value;
  }

  /** Returns the entry even if it has expired, unless it has been evicted. */
  last(key: string): Entry<V> | undefined {
    return this.#find(key);
  }

  set(key: string, value: V, expiresAt: number): void {
    this.#old.delete(key);
    this.#young.delete(key);
    if (this.#young.size >= this.#half) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, { value, expiresAt });
  }

  delete(key: string): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }

  #find(key: string): Entry<V> | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old.value, old.expiresAt);
    return old;
  }
}
