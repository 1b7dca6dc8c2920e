// Watches the nameserver pool: checks every hour how much of it is assigned, and once a day whether its names, glue
// and nodes match its lists. Checks faults again every hour, so that repaired ones soon disappear.

import { judgePool, type PoolFault } from '../../src/checks/nameservers/judge-pool.ts';
import { type Rounds, runRounds } from '../../src/jobs/run-rounds.ts';
import type { Resolver } from '../../src/resolver/resolver.ts';
import { loadPoolUse, loadServedZone } from '../../src/store/claims/pool-sets.ts';
import { loadPublishSettings } from '../../src/store/postgres/answer-settings.ts';
import type { Database } from '../../src/store/postgres/database.ts';
import type { NameserverPool } from '../../src/zone/pool/pool.ts';
import { shareGiven, WARNING_SHARE } from '../../src/zone/pool/pool-use.ts';

interface PoolWatchOptions {
  readonly resolver: Pick<Resolver, 'observePool'>;
  /** Called after each check that found faults. */
  readonly onFaults: (faults: readonly PoolFault[]) => void;
  readonly onTrouble: (error: Error) => void;
  readonly now?: () => number;
  readonly idleMs?: number;
}

export interface PoolState {
  /** Fraction from 0 to 1. */
  readonly shareGiven: number;
  /** Undefined before the first check. */
  readonly faults: readonly PoolFault[] | undefined;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export class PoolWatch {
  readonly #db: Database;
  readonly #options: PoolWatchOptions;
  readonly #stopping = new AbortController();
  #state: PoolState | undefined;
  /** The last checked pool, and when it was checked. */
  #checked: { readonly pool: string; readonly at: number } | undefined;
  #rounds: Rounds | undefined;

  constructor(db: Database, options: PoolWatchOptions) {
    this.#db = db;
    this.#options = options;
  }

  /** Returns undefined without a pool. */
  state(): PoolState | undefined {
    return this.#state;
  }

  /** Problems that an operator should solve, one per line. */
  warnings(): string[] {
    if (this.#state === undefined) return [];
    const { shareGiven: share, faults = [] } = this.#state;
    const [first] = faults;
    const more = faults.length > 1 ? ` (and ${faults.length - 1} more: zonefleet nameservers)` : '';
    return [
      ...(share >= WARNING_SHARE
        ? [`${Math.floor(share * 100)} % of the nameserver pool is assigned: extend a list`]
        : []),
      ...(first === undefined ? [] : [`nameserver pool: ${first.of}: ${first.message}${more}`]),
    ];
  }

  start(): void {
    const { onTrouble, idleMs = HOUR_MS } = this.#options;
    this.#rounds = runRounds({
      round: async () => {
        await this.#round();
        return { isMore: false };
      },
      idleMs,
      onTrouble: (error) => {
        if (!this.#stopping.signal.aborted) onTrouble(error as Error);
      },
    });
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the watch is stopped'));
    await this.#rounds?.stop();
  }

  async #round(): Promise<void> {
    const { pool } = await loadPublishSettings(this.#db);
    if (pool === undefined) {
      this.#state = undefined;
      this.#checked = undefined;
      return;
    }
    const share = shareGiven(await loadPoolUse(this.#db, pool));
    this.#state = { shareGiven: share, faults: this.#state?.faults };
    const { now = Date.now, onFaults } = this.#options;
    if (!this.#isDue(pool, now())) return;
    const faults = await this.#check(pool);
    this.#checked = { pool: JSON.stringify(pool), at: now() };
    this.#state = { shareGiven: share, faults };
    if (faults.length > 0) onFaults(faults);
  }

  #isDue(pool: NameserverPool, now: number): boolean {
    if (this.#checked === undefined || (this.#state?.faults?.length ?? 0) > 0) return true;
    return now - this.#checked.at >= DAY_MS || this.#checked.pool !== JSON.stringify(pool);
  }

  async #check(pool: NameserverPool): Promise<PoolFault[]> {
    const observed = {
      names: pool.lists.flat(),
      addresses: pool.addresses.flat(),
      served: await loadServedZone(this.#db),
    };
    const evidence = await this.#options.resolver.observePool(observed, { signal: this.#stopping.signal });
    return judgePool(pool, evidence);
  }
}
