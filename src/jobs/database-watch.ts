// Checks whether Postgres is available, once for all runs that need to know. A run that fails while Postgres is
// unavailable, hangs or has no disk space waits and starts again, so that an outage causes no dead letters.

import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '../store/postgres/database.ts';
import { outageOf } from '../store/postgres/outage.ts';
import { checkSchema } from '../store/postgres/schema-version.ts';
import { backoffMs } from './run-rounds.ts';

const PROBE_MS = 500;

export class DatabaseWatch {
  readonly #db: Database;
  #probe: Promise<boolean> | undefined;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Repeats the work each time that it failed while Postgres was unavailable. `again` is then true. */
  async steadily<T>(signal: AbortSignal, work: (again: boolean) => Promise<T>): Promise<T> {
    for (let failures = 0; ; ) {
      try {
        return await work(failures > 0);
      } catch (error) {
        signal.throwIfAborted();
        if (!isOutage(error) && (await this.isThere())) throw error;
        failures++;
        // Pause first, because Postgres may accept only reads, and each repetition queries foreign servers again.
        await pause(backoffMs(PROBE_MS, failures), undefined, { signal }).catch(() => {});
        await this.untilThere(signal);
      }
    }
  }

  /** Checks Postgres now, or joins a check that is in progress. */
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

  /** Rejects with the signal's reason when the signal aborts. */
  async untilThere(signal: AbortSignal): Promise<void> {
    while (!(await this.isThere())) {
      await pause(PROBE_MS, undefined, { signal }).catch(() => {});
      signal.throwIfAborted();
    }
  }
}

const QUERY_CANCELED = '57014';

/** A slow statement is not an outage: work that is always too slow would be repeated forever. */
function isOutage(error: unknown): boolean {
  return outageOf(error) !== undefined && (error as { code?: string }).code !== QUERY_CANCELED;
}
