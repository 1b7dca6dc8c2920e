// What each account uses of this process's slots, told to all workers each second: whose check is next depends on it.

import { addSlotTime, purgeShares } from '../store/checks/check-shares.ts';
import type { Database } from '../store/postgres/database.ts';
import { type Rounds, runRounds } from './run-rounds.ts';

const INTERVAL_MS = 1000;
/** After how many rounds old rows are deleted. */
const PURGE_EACH = 60;

export class AccountShares {
  /** When each running check of an account began, or was last counted. */
  readonly #running = new Map<number, { count: number; since: number; usedMs: number }>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** A check of the account takes a slot; call what it gives when it is over. */
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

  /** What was used since the last call. */
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

/** Shares them until it is stopped. What a failed call would have told is lost: it fades anyway. */
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
