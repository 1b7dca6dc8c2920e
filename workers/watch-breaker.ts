// This process's side of the breaker: counts what its checks see, tells the others each second, and knows between two
// such moments which parents' moves are held. What all workers counted decides, so all come to the same.

import { setTimeout as pause } from 'node:timers/promises';
import { type CheckCounts, isOff, isTurn, judgeBreaker } from '../src/checks/breaker.ts';
import type { Verdict } from '../src/checks/verdict.ts';
import {
  addCheckCounts,
  type BreakerTrip,
  endTrips,
  loadBreaker,
  tripBreaker,
} from '../src/store/breaker-store.ts';
import type { Database } from '../src/store/database.ts';

export interface BreakerChange {
  /** '' is overall. */
  readonly parent: string;
  readonly checked: number;
  readonly turned: number;
  readonly ended: boolean;
}

type Sums = Omit<CheckCounts, 'parent'>;

export interface BreakerWatchOptions {
  readonly onTrouble: (error: Error) => void;
  /** Told by the process that came first. */
  readonly onChange: (change: BreakerChange) => void;
  readonly intervalMs?: number;
}

const INTERVAL_MS = 1000;
const LONGEST_BACKOFF_MS = 10_000;
/** Rounds after which old counts are forgotten, trip or no trip. */
const PURGE_EACH = 60;

export class BreakerWatch {
  readonly #db: Database;
  readonly #options: BreakerWatchOptions;
  readonly #stopping = new AbortController();
  /** By parent, as a column has it: not told yet. */
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

  /** Trips in force. */
  held(): number {
    return this.#held.size;
  }

  /** A check of an active domain, and what the one before it said. */
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

  /** Resolves when it is known what is held: nothing may be judged before. */
  async start(): Promise<void> {
    await this.#round();
    this.#running = this.#loop();
  }

  /** Tells what was counted last. */
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
    const held = new Set(trips.map(({ parent }) => parent));
    const tripped = judgeBreaker(counts, held);
    const begun = await tripBreaker(this.#db, tripped);
    const goingOn = new Set(tripped.map(({ parent }) => parent));
    const isOver = trips.some(({ parent }) => !goingOn.has(parent));
    const ended = isOver || this.#rounds++ % PURGE_EACH === 0 ? await endTrips(this.#db, [...goingOn]) : [];
    const released = new Set(
      trips.filter(({ releasedAt }) => releasedAt !== null).map(({ parent }) => parent),
    );
    this.#held = new Set([...goingOn].filter((parent) => !released.has(parent)));
    for (const trip of begun) this.#change(trip, false);
    for (const trip of ended) this.#change(trip, true);
  }

  #change({ parent, checked, turned }: BreakerTrip, ended: boolean): void {
    this.#options.onChange({ parent, checked, turned, ended });
  }

  /** What could not be told is kept for the next time. */
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
