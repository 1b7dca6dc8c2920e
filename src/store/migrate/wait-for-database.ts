// The first thing that the API and the workers do with Postgres: a process that starts while Postgres is away waits for it.

import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../../process/reconnect.ts';
import { StartFault } from '../../process/start-fault.ts';
import type { Database } from '../postgres/database.ts';
import { checkSchema } from './migrate.ts';

const RETRY_MS = 1000;

interface DatabaseWait {
  readonly log: Pick<Log, 'warn'>;
  /** Ends the wait, which then rejects. */
  readonly signal: AbortSignal;
}

/**
 * Resolves when the schema is not older than ours and `prepare` has succeeded. Mistakes of the operator are not waited for: an
 * older schema, since `migrate` comes first, and whatever `prepare` throws as a StartFault.
 */
export async function waitForDatabase(
  db: Database,
  { log, signal }: DatabaseWait,
  prepare: () => Promise<unknown>,
): Promise<void> {
  for (;;) {
    try {
      await checkSchema(db);
      await prepare();
      return;
    } catch (error) {
      if (error instanceof StartFault) throw error;
      log.warn({ err: error }, 'the database cannot be reached');
    }
    await pause(RETRY_MS, undefined, { signal });
  }
}
