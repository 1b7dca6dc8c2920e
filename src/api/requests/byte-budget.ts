// How many bytes each edge may have worked on: a store of them that fills by and by. What a call takes is known only afterwards, so
// one call may overdraw it, and the next has to wait.

interface Account {
  bytes: number;
  atMs: number;
}

const MOST_ACCOUNTS = 10_000;

export interface Budget {
  readonly bytes: number;
  readonly bytesASecond: number;
}

export class ByteBudget {
  readonly #budget: Budget;
  readonly #nowMs: () => number;
  readonly #accounts = new Map<number, Account>();

  constructor(budget: Budget, nowMs: () => number = () => performance.now()) {
    this.#budget = budget;
    this.#nowMs = nowMs;
  }

  /** After how many seconds it may call again; undefined: now. */
  judge(edgeId: number): number | undefined {
    const { bytes } = this.#of(edgeId);
    return bytes > 0 ? undefined : Math.ceil((1 - bytes) / this.#budget.bytesASecond);
  }

  take(edgeId: number, bytes: number): void {
    this.#of(edgeId).bytes -= bytes;
  }

  #of(edgeId: number): Account {
    const nowMs = this.#nowMs();
    const { bytes: most, bytesASecond } = this.#budget;
    const known = this.#accounts.get(edgeId) ?? { bytes: most, atMs: nowMs };
    known.bytes = Math.min(most, known.bytes + ((nowMs - known.atMs) / 1000) * bytesASecond);
    known.atMs = nowMs;
    this.#accounts.set(edgeId, known);
    const [oldest] = this.#accounts.keys();
    if (this.#accounts.size > MOST_ACCOUNTS && oldest !== undefined) this.#accounts.delete(oldest);
    return known;
  }
}
