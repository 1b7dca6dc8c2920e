// One piece of work at a time for each domain. Its writes wait for each other anyway, at its lock in Postgres; waiting
// here instead, a busy domain holds one connection of the pool, not all of them.

export class Turns {
  readonly #last = new Map<number, Promise<void>>();

  /** How many domains have work. */
  get busy(): number {
    return this.#last.size;
  }

  /** In the order of the calls, whatever becomes of the work before. */
  async run<T>(domainId: number, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(domainId);
    let leave: () => void = () => {};
    const mine = new Promise<void>((resolve) => {
      leave = resolve;
    });
    this.#last.set(domainId, mine);
    try {
      await before;
      return await work();
    } finally {
      if (this.#last.get(domainId) === mine) this.#last.delete(domainId);
      leave();
    }
  }
}
