// The first thing that the API and the workers do with Postgres: a process that starts while Postgres is away waits for it.

import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../../process/reconnect.ts';
import { StartFault } from '../../process/start-fault.ts';
import type { Database } from './database.ts';
import { isRejection, REJECTED_MS } from './outage.ts';
import { checkSchema } from './schema-version.ts';

const RETRY_MS = 1000;

interface DatabaseWait {
  readonly log: Pick<Log, 'warn'>;
  /** Ends the wait, which then rejects. */
  readonly signal: AbortSignal;
  readonly rejectedMs?: number;
}

/**
 * Resolves when the schema is not older than ours and `prepare` has succeeded. Throws a StartFault if the operator has to act:
 * the schema is older, `prepare` threw a StartFault, or Postgres has rejected the password for `rejectedMs`. Logs a reason
 * once, until another one comes.
 */
export async function waitForDatabase(
  db: Database,
  { log, signal, rejectedMs = REJECTED_MS }: DatabaseWait,
  prepare: () => Promise<unknown>,
): Promise<void> {
  let loggedReason: string | undefined;
  let rejectedSinceMs: number | undefined;
  for (;;) {
    try {
      await checkSchema(db);
      await prepare();
      return;
    } catch (error) {
      if (error instanceof StartFault) throw error;
      const { message } = error as Error;
      rejectedSinceMs = isRejection(error) ? (rejectedSinceMs ?? performance.now()) : undefined;
      if (rejectedSinceMs !== undefined && performance.now() - rejectedSinceMs >= rejectedMs)
        throw new StartFault(`DATABASE_URL: ${message}`);
      if (message !== loggedReason) log.warn({ err: error }, 'the database cannot be reached');
      loggedReason = message;
    }
    await pause(RETRY_MS, undefined, { signal });
  }
}
