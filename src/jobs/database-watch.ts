// Whether Postgres answers, asked once for all runs that want to know. A run that fails while Postgres does not answer,
// hangs or has no disk space waits here and begins again, so that an outage makes no job a dead letter.

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

  /**
   * Does the work, and does it again each time that it failed while Postgres was away; `again` says so. Ends with the
   * signal.
   */
  async steadily<T>(signal: AbortSignal, work: (again: boolean) => Promise<T>): Promise<T> {
    for (let failures = 0; ; ) {
      try {
        return await work(failures > 0);
      } catch (error) {
        signal.throwIfAborted();
        if (!isOutage(error) && (await this.isThere())) throw error;
        failures++;
        // Pause first: Postgres may accept reads only, and each repetition queries foreign servers again.
        await pause(backoffMs(PROBE_MS, failures), undefined, { signal }).catch(() => {});
        await this.untilThere(signal);
      }
    }
  }

  /** Asks Postgres now, or shares the answer of a question that is open. */
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

/** A slow statement does not count: work that is too slow each time would be repeated forever. */
function isOutage(error: unknown): boolean {
  return outageOf(error) !== undefined && (error as { code?: string }).code !== QUERY_CANCELED;
}
