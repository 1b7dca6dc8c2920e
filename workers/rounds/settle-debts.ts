// Suspends the domains of those who owe for too long, and resumes them once they have paid. Any number of processes may run it.

import { type Rounds, runRounds } from '../../src/jobs/run-rounds.ts';
import { type SettledDebts, settleDebts } from '../../src/store/money/settle-debts.ts';
import { currentTime } from '../../src/store/postgres/current-time.ts';
import type { Database } from '../../src/store/postgres/database.ts';

interface DebtRounds {
  readonly db: Database;
  /** For how many days a wallet may be below zero. */
  readonly graceDays: number;
  /** Called for each round that did anything. */
  readonly onSettled: (settled: Omit<SettledDebts, 'isMore'>) => void;
  readonly onTrouble: (error: unknown) => void;
  /** By default the database's, which all processes share. */
  readonly clock?: () => Promise<Date>;
  readonly idleMs?: number;
}

/** Who has paid waits no longer than this for domains to be resumed. */
const IDLE_MS = 2_000;

export function runDebts(options: DebtRounds): Rounds {
  const { db, graceDays, onSettled, onTrouble, clock = () => currentTime(db), idleMs = IDLE_MS } = options;
  return runRounds({
    idleMs,
    onTrouble,
    async round() {
      const { isMore, ...settled } = await settleDebts(db, { at: await clock(), graceDays });
      if (Object.values(settled).some((count) => count > 0)) onSettled(settled);
      return { isMore };
    },
  });
}
