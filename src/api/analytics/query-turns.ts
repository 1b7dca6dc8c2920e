// Limits the concurrent queries to one resource (the analytics store, the cache registry): in total, per account, and
// per domain. An account with many queries delays mainly its own: the queries of other accounts go first, also for a
// domain that both may read.

export class TooManyQueries extends Error {
  override readonly name = 'TooManyQueries';
}

interface QueryLimits {
  readonly running: number;
  readonly ofAccount: number;
  readonly ofDomain: number;
  /** Maximum per account. A page of the console sends about ten queries concurrently. */
  readonly waiting: number;
}

/** The embedded engine answers four queries concurrently. */
const LIMITS: QueryLimits = { running: 4, ofAccount: 2, ofDomain: 2, waiting: 30 };

interface Asker {
  readonly accountId: number;
  readonly domainId: number;
}

interface Waiter extends Asker {
  readonly begin: () => void;
}

export class QueryTurns {
  readonly #limits: QueryLimits;
  readonly #waiting = new Set<Waiter>();
  readonly #accounts = new Map<number, number>();
  readonly #domains = new Map<number, number>();
  /** Number of the last turn of each account that has a query here. */
  readonly #turns = new Map<number, number>();
  #turn = 0;
  #running = 0;

  constructor(limits: QueryLimits = LIMITS) {
    this.#limits = limits;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Waits for a slot, and returns the function that releases it. Rejects with the reason of `signal` if that ends the
   * wait.
   * @throws {TooManyQueries}
   */
  async take(asker: Asker, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#mayBegin(asker)) this.#count(asker, 1);
    else await this.#wait(asker, signal);
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#count(asker, -1);
      this.#beginNext();
    };
  }

  async #wait(asker: Asker, signal: AbortSignal): Promise<void> {
    let own = 0;
    for (const { accountId } of this.#waiting) if (accountId === asker.accountId) own++;
    if (own >= this.#limits.waiting) throw new TooManyQueries(`${own} queries of the account wait`);
    await new Promise<void>((resolve, reject) => {
      const waiter = {
        ...asker,
        begin: () => {
          signal.removeEventListener('abort', leave);
          resolve();
        },
      };
      const leave = () => {
        this.#waiting.delete(waiter);
        reject(signal.reason);
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.add(waiter);
    });
  }

  /** Prefers the account with the fewest running queries, then the one whose last turn was the longest ago. */
  #beginNext(): void {
    let next: Waiter | undefined;
    for (const waiter of this.#waiting) {
      const isBefore = next === undefined || this.#isBefore(waiter, next);
      if (isBefore && this.#mayBegin(waiter)) next = waiter;
    }
    if (next !== undefined) {
      this.#waiting.delete(next);
      this.#count(next, 1);
      next.begin();
    }
    this.#forget();
  }

  #isBefore(one: Asker, other: Asker): boolean {
    const fewer = this.#of(one) - this.#of(other);
    if (fewer !== 0) return fewer < 0;
    return (this.#turns.get(one.accountId) ?? 0) < (this.#turns.get(other.accountId) ?? 0);
  }

  /** Turns matter only while queries wait. */
  #forget(): void {
    if (this.#waiting.size === 0) this.#turns.clear();
  }

  #of({ accountId }: Asker): number {
    return this.#accounts.get(accountId) ?? 0;
  }

  #mayBegin(asker: Asker): boolean {
    const { running, ofAccount, ofDomain } = this.#limits;
    const ofItsDomain = this.#domains.get(asker.domainId) ?? 0;
    return this.#running < running && this.#of(asker) < ofAccount && ofItsDomain < ofDomain;
  }

  #count({ accountId, domainId }: Asker, step: 1 | -1): void {
    this.#running += step;
    if (step === 1) this.#turns.set(accountId, ++this.#turn);
    for (const [counts, id] of [
      [this.#accounts, accountId],
      [this.#domains, domainId],
    ] as const) {
      const left = (counts.get(id) ?? 0) + step;
      if (left === 0) counts.delete(id);
      else counts.set(id, left);
    }
  }
}
