// Rounds that renew and end subscriptions, and suspend the domains of accounts in debt.

import { Counter, type Registry } from 'prom-client';
import { type Rounds, runRounds } from '../../jobs/run-rounds.ts';
import {
  type FailedSubscription,
  type MovedSubscriptions,
  moveSubscriptions,
} from '../../store/change/move-subscriptions.ts';
import { currentTime } from '../../store/postgres/current-time.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { WorkTools } from '../feature.ts';
import { type Charging, renewalWallet } from './sql-charge.ts';
import { type SettledDebts, settleDebts } from './sql-debts.ts';

interface SubscriptionRounds {
  readonly db: Database;
  readonly charging: Charging;
  /** Called for each round that changed a subscription. */
  readonly onMoved: (moved: Omit<MovedSubscriptions, 'isMore'>) => void;
  /** Called for each subscription that an error left unchanged. */
  readonly onFailed: (failed: FailedSubscription, error: unknown) => void;
  readonly onTrouble: (error: unknown) => void;
  /** The database's clock by default, so that a worker with a wrong clock ends nothing. */
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

interface DebtRounds {
  readonly db: Database;
  /** For how many days a wallet may be below zero. */
  readonly graceDays: number;
  /** Called for each round that changed anything. */
  readonly onSettled: (settled: Omit<SettledDebts, 'isMore'>) => void;
  readonly onTrouble: (error: unknown) => void;
  /** The database's clock by default. */
  readonly clock?: () => Promise<Date>;
  readonly idleMs?: number;
}

/** After a debt is paid, its domains are resumed within this time. */
const DEBT_IDLE_MS = 2_000;

export function runDebts(options: DebtRounds): Rounds {
  const {
    db,
    graceDays,
    onSettled,
    onTrouble,
    clock = () => currentTime(db),
    idleMs = DEBT_IDLE_MS,
  } = options;
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

export function startSubscriptions({ db, registry, settings, log, trouble }: WorkTools): Rounds {
  const moves = new Counter({
    name: 'zonefleet_subscription_moves_total',
    help: 'Subscriptions that reached the end of their term, by result: renewed, unpaid (the renewal could not be paid), grace, ended, failed (will be retried).',
    labelNames: ['became'],
    registers: [registry],
  });
  return runSubscriptions({
    db,
    charging: { maxNegativeRials: settings.resellerMaxNegativeRials, seller: settings.invoiceSeller },
    onMoved(moved) {
      for (const [became, count] of Object.entries(moved)) if (count > 0) moves.inc({ became }, count);
      log.info(moved, 'subscriptions reached the end of their term');
    },
    onFailed: (failed, error) =>
      log.error(
        { ...failed, err: error },
        'a subscription could not be renewed or ended: it will be retried',
      ),
    onTrouble: (error) => trouble('housekeeping', error as Error),
  });
}

export function startDebts({ db, registry, settings, log, trouble }: WorkTools): Rounds {
  const count = createDebtMetrics(registry);
  return runDebts({
    db,
    graceDays: settings.resellerNegativeGraceDays,
    onSettled(settled) {
      count(settled);
      log.info(settled, 'domains were suspended or resumed because of debts');
    },
    onTrouble: (error) => trouble('housekeeping', error as Error),
  });
}

export function createDebtMetrics(registry: Registry): DebtRounds['onSettled'] {
  const wallets = new Counter({
    name: 'zonefleet_wallets_overdue_total',
    help: 'Wallets that were below zero for longer than RESELLER_NEGATIVE_GRACE_DAYS.',
    registers: [registry],
  });
  const domains = new Counter({
    name: 'zonefleet_debt_suspensions_total',
    help: 'Domains that were suspended because of a debt, and domains that were resumed after it was paid.',
    labelNames: ['became'],
    registers: [registry],
  });
  return (settled) => {
    wallets.inc(settled.wallets);
    domains.inc({ became: 'suspended' }, settled.suspended);
    domains.inc({ became: 'resumed' }, settled.resumed);
  };
}
