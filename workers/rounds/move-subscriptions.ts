// Brings subscriptions further whose time has come: renewal, grace, the end. Any number of processes may run it.

import { type Rounds, runRounds } from '../../src/jobs/run-rounds.ts';
import {
  type FailedSubscription,
  type MovedSubscriptions,
  moveSubscriptions,
} from '../../src/store/change/move-subscriptions.ts';
import { type Charging, renewalWallet } from '../../src/store/money/charge.ts';
import { currentTime } from '../../src/store/postgres/current-time.ts';
import type { Database } from '../../src/store/postgres/database.ts';

interface SubscriptionRounds {
  readonly db: Database;
  readonly charging: Charging;
  /** Called for each round that moved any. */
  readonly onMoved: (moved: Omit<MovedSubscriptions, 'isMore'>) => void;
  /** Called for each that an error leaves as it is. */
  readonly onFailed: (failed: FailedSubscription, error: unknown) => void;
  readonly onTrouble: (error: unknown) => void;
  /** By default the database's, which all processes share: a machine whose clock is wrong ends nothing. */
  readonly clock?: () => Promise<Date>;
  readonly idleMs?: number;
}

const IDLE_MS = 30_000;

export function runSubscriptions(options: SubscriptionRounds): Rounds {
  const {
    db,
    charging,
    onMoved,
    onFailed,
    onTrouble,
    clock = () => currentTime(db),
    idleMs = IDLE_MS,
  } = options;
  const wallet = renewalWallet(charging);
  return runRounds({
    idleMs,
    onTrouble,
    async round() {
      const { isMore, ...moved } = await moveSubscriptions(db, { at: await clock(), wallet, onFailed });
      if (Object.values(moved).some((count) => count > 0)) onMoved(moved);
      return { isMore };
    },
  });
}
