// The breaker of this process: counts the results of its checks, shares the counts every second, and knows for which
// parents status changes are held. The counts of all workers decide, so all reach the same decision.

import { setTimeout as pause } from 'node:timers/promises';
import { type CheckCounts, isOff, isTurn, judgeBreaker } from '../../src/checks/delegation/breaker.ts';
import type { Verdict } from '../../src/checks/delegation/verdict.ts';
import {
  addCheckCounts,
  type BreakerTrip,
  endTrips,
  loadBreaker,
  tripBreaker,
} from '../../src/store/checks/breaker-store.ts';
import type { Database } from '../../src/store/postgres/database.ts';

export interface BreakerChange {
  /** The parent. '' stands for all parents together. */
  readonly parent: string;
  readonly checked: number;
  readonly turned: number;
  readonly ended: boolean;
}

type Sums = Omit<CheckCounts, 'parent'>;

interface BreakerWatchOptions {
  readonly onTrouble: (error: Error) => void;
  /** Called by the process that first noticed the change. */
  readonly onChange: (change: BreakerChange) => void;
  readonly intervalMs?: number;
}

const INTERVAL_MS = 1000;
const LONGEST_BACKOFF_MS = 10_000;
/** Number of rounds after which old counts are deleted, with or without a trip. */
const PURGE_EACH = 60;

export class BreakerWatch {
  readonly #db: Database;
  readonly #options: BreakerWatchOptions;
  readonly #stopping = new AbortController();
  /** Counts not shared yet, by parent as encoded in its column. */
  #counts = new Map<string, Sums>();
  #held: ReadonlySet<string> = new Set();
  #rounds = 0;
  #running: Promise<void> = Promise.resolve();

  constructor(db: Database, options: BreakerWatchOptions) {
    this.#db = db;
    this.#options = options;
  }

  isFrozen(parent: string): boolean {
    return this.#held.has('') || this.#held.has(parent);
  }

  /** Returns the number of trips in force. */
  held(): number {
    return this.#held.size;
  }

  /** Counts a check of an active domain, with the verdict of the check before it. */
  count(parent: string, before: Verdict | undefined, after: Verdict): void {
    const turned = isTurn(before, after) ? 1 : 0;
    this.#add(parent, { checked: 1, turned, off: isOff(after) ? 1 : 0 });
  }

  #add(parent: string, { checked, turned, off }: Sums): void {
    const sum = this.#counts.get(parent) ?? { checked: 0, turned: 0, off: 0 };
    this.#counts.set(parent, {
      checked: sum.checked + checked,
      turned: sum.turned + turned,
      off: sum.off + off,
    });
  }

  /** Resolves when the held status changes are known. No check may be evaluated before. */
  async start(): Promise<void> {
    await this.#round();
    this.#running = this.#loop();
  }

  /** Stops after sharing the last counts. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    await this.#tell();
  }

  async #loop(): Promise<void> {
    const { onTrouble, intervalMs = INTERVAL_MS } = this.#options;
    let failures = 0;
    for (;;) {
      const waitMs = Math.min(intervalMs * 2 ** failures, LONGEST_BACKOFF_MS);
      await pause(waitMs, undefined, { signal: this.#stopping.signal }).catch(() => {});
      if (this.#stopping.signal.aborted) return;
      try {
        await this.#round();
        failures = 0;
      } catch (error) {
        failures = Math.min(failures + 1, 10);
        onTrouble(error as Error);
      }
    }
  }

  async #round(): Promise<void> {
    await this.#tell();
    const { counts, trips } = await loadBreaker(this.#db);
    // Changes that an operator froze are held regardless of the counts, and do not affect them.
    const frozen = trips.filter(({ frozenBy }) => frozenBy !== null);
    const counted = trips.filter(({ frozenBy }) => frozenBy === null);
    const held = new Set(counted.map(({ parent }) => parent));
    const tripped = judgeBreaker(counts, held);
    const begun = await tripBreaker(this.#db, tripped);
    const goingOn = new Set(tripped.map(({ parent }) => parent));
    const isOver = counted.some(({ parent }) => !goingOn.has(parent));
    const ended = isOver || this.#rounds++ % PURGE_EACH === 0 ? await endTrips(this.#db, [...goingOn]) : [];
    const released = new Set(
      counted.filter(({ releasedAt }) => releasedAt !== null).map(({ parent }) => parent),
    );
    this.#held = new Set([
      ...[...goingOn].filter((parent) => !released.has(parent)),
      ...frozen.map(({ parent }) => parent),
    ]);
    for (const trip of begun) this.#change(trip, false);
    for (const trip of ended) this.#change(trip, true);
  }

  #change({ parent, checked, turned }: BreakerTrip, ended: boolean): void {
    this.#options.onChange({ parent, checked, turned, ended });
  }

  /** Shares the counts. Those that could not be shared are kept for the next time. */
  async #tell(): Promise<void> {
    const counted = this.#counts;
    if (counted.size === 0) return;
    this.#counts = new Map();
    const rows: CheckCounts[] = [...counted].map(([parent, sums]) => ({ parent, ...sums }));
    try {
      await addCheckCounts(this.#db, rows);
    } catch (error) {
      for (const { parent, ...sums } of rows) this.#add(parent, sums);
      throw error;
    }
  }
}
