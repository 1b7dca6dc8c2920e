// Whether Postgres is there, asked once for all runs that want to know. A run that fails while it is away is no fault of
// the run: it waits here and begins again, so that an outage makes nobody a dead letter.

import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '../src/store/database.ts';
import { checkSchema } from '../src/store/migrate.ts';

const PROBE_MS = 500;

export class DatabaseWatch {
  readonly #db: Database;
  #probe: Promise<boolean> | undefined;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Does the work, and again each time that it failed while Postgres was away; `again` says so. Ends with the signal. */
  async steadily<T>(signal: AbortSignal, work: (again: boolean) => Promise<T>): Promise<T> {
    for (let again = false; ; again = true) {
      try {
        return await work(again);
      } catch (error) {
        signal.throwIfAborted();
        if (await this.isThere()) throw error;
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
