// Whether Postgres is there, asked once for all runs that want to know. A run that fails while it is away, has no room or
// hangs is no fault of the run: it waits here and begins again, so that an outage makes nobody a dead letter.

import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '../src/store/database.ts';
import { checkSchema } from '../src/store/migrate.ts';
import { outageOf } from '../src/store/outage.ts';
import { backoffMs } from './run-rounds.ts';

const PROBE_MS = 500;

export class DatabaseWatch {
  readonly #db: Database;
  #probe: Promise<boolean> | undefined;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Does the work, and again each time that it failed while Postgres was away; `again` says so. Ends with the signal. */
  async steadily<T>(signal: AbortSignal, work: (again: boolean) => Promise<T>): Promise<T> {
    for (let failures = 0; ; ) {
      try {
        return await work(failures > 0);
      } catch (error) {
        signal.throwIfAborted();
        if (!isOutage(error) && (await this.isThere())) throw error;
        failures++;
        // It may be there for reads alone: the work goes out to other people's servers each time.
        await pause(backoffMs(PROBE_MS, failures), undefined, { signal }).catch(() => {});
        await this.untilThere(signal);
      }
    }
  }

  /** Asks it now, or shares the answer of whoever is asking. */
  isThere(): Promise<boolean> {
    this.#probe ??= checkSchema(this.#db)
      .then(
        () => true,
        () => false,
      )
      .finally(() => {
        this.#probe = undefined;
      });
    return this.#probe;
  }

  /** Rejects with the signal's reason when that aborts. */
  async untilThere(signal: AbortSignal): Promise<void> {
    while (!(await this.isThere())) {
      await pause(PROBE_MS, undefined, { signal }).catch(() => {});
      signal.throwIfAborted();
    }
  }
}

const QUERY_CANCELED = '57014';

/** A statement that was too slow fails its run: what is slow each time would be begun again for ever. */
function isOutage(error: unknown): boolean {
  return outageOf(error) !== undefined && (error as { code?: string }).code !== QUERY_CANCELED;
}
