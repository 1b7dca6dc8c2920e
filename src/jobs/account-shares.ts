// Measures how much of this process's slots each account uses, and shares it with all workers every second. The order
// of checks depends on it.

import { addSlotTime, purgeShares } from '../store/checks/check-shares.ts';
import type { Database } from '../store/postgres/database.ts';
import { type Rounds, runRounds } from './run-rounds.ts';

const INTERVAL_MS = 1000;
/** Number of rounds after which old rows are deleted. */
const PURGE_EACH = 60;

export class AccountShares {
  /** The number of running checks of an account, and their time up to `since`. */
  readonly #running = new Map<number, { count: number; since: number; usedMs: number }>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Starts a check of the account. Call the returned function when the check ends. */
  begin(accountId: number): () => void {
    const use = this.#running.get(accountId) ?? { count: 0, since: this.#now(), usedMs: 0 };
    this.#running.set(accountId, use);
    this.#count(use);
    use.count++;
    return () => {
      this.#count(use);
      use.count--;
    };
  }

  /** Returns the slot time used since the last call. */
  take(): { readonly accountId: number; readonly slotMs: number }[] {
    const used: { accountId: number; slotMs: number }[] = [];
    for (const [accountId, use] of this.#running) {
      this.#count(use);
      if (use.usedMs > 0) used.push({ accountId, slotMs: use.usedMs });
      use.usedMs = 0;
      if (use.count === 0) this.#running.delete(accountId);
    }
    return used;
  }

  #count(use: { count: number; since: number; usedMs: number }): void {
    const at = this.#now();
    use.usedMs += use.count * Math.max(0, at - use.since);
    use.since = at;
  }
}

/** Shares the slot time until it is stopped. The numbers of a failed call are lost, because they fade anyway. */
export function shareSlotTime(
  db: Database,
  shares: AccountShares,
  { onTrouble, idleMs = INTERVAL_MS }: { onTrouble: (error: unknown) => void; idleMs?: number },
): Rounds {
  let rounds = 0;
  const round = async () => {
    await addSlotTime(db, shares.take());
    if (++rounds % PURGE_EACH === 0) await purgeShares(db);
    return { isMore: false };
  };
  return runRounds({ round, idleMs, onTrouble });
}
