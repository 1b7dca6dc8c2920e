// Determines whether the API or the workers can do their work: Postgres responds, its schema is not older than the
// code, and no write has just failed for lack of disk space. Postgres is queried at most twice per second, with a
// timeout of two seconds.

import { setTimeout as pause } from 'node:timers/promises';
import type { Readiness } from '../../process/listen-health.ts';
import type { Log } from '../../process/reconnect.ts';
import { StartFault } from '../../process/start-fault.ts';
import { DatabaseSilence } from './bounded-client.ts';
import type { Database } from './database.ts';
import { OUTAGES, type OutageKind, outageOf } from './outage.ts';
import { isRejection, REJECTED_MS } from './rejection.ts';
import { checkSchema, SchemaError } from './schema-version.ts';

const FRESH_MS = 500;
const ANSWER_TIMEOUT_MS = 2000;

/** `lacking` returns the outage that writes have recently met. */
export function databaseReadiness(
  db: Database,
  lacking: () => OutageKind | undefined = () => undefined,
): () => Promise<Readiness> {
  let asked: Promise<Readiness> | undefined;
  let answeredAtMs = Number.NEGATIVE_INFINITY;
  return () => {
    if (asked !== undefined && performance.now() - answeredAtMs < FRESH_MS) return asked;
    answeredAtMs = Number.POSITIVE_INFINITY;
    asked = ask(db, lacking).finally(() => {
      answeredAtMs = performance.now();
    });
    return asked;
  };
}

async function ask(db: Database, lacking: () => OutageKind | undefined): Promise<Readiness> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, fail) => {
    timer = setTimeout(() => fail(new DatabaseSilence('no response in time')), ANSWER_TIMEOUT_MS);
  });
  try {
    await Promise.race([checkSchema(db), late]);
    const lack = lacking();
    return lack === undefined ? { kind: 'ready' } : { kind: 'waiting', reason: OUTAGES[lack].words };
  } catch (error) {
    const reason =
      error instanceof SchemaError ? error.message : OUTAGES[outageOf(error) ?? 'unreachable'].words;
    return { kind: 'waiting', reason };
  } finally {
    clearTimeout(timer);
  }
}

const RETRY_MS = 1000;

interface DatabaseWait {
  readonly log: Pick<Log, 'warn'>;
  /** Aborts the wait, which then rejects. */
  readonly signal: AbortSignal;
  readonly rejectedMs?: number;
  readonly retryMs?: number;
}

/**
 * Waits for Postgres. The API and the workers call it first, because they may start while Postgres is unavailable.
 * Resolves when the schema is not older than the code and `prepare` has succeeded. Throws a StartFault if the operator
 * has to act: the schema is older, `prepare` threw a StartFault, or Postgres has rejected the password for
 * `rejectedMs`. Logs a reason once, until it changes.
 */
export async function waitForDatabase(
  db: Database,
  { log, signal, rejectedMs = REJECTED_MS, retryMs = RETRY_MS }: DatabaseWait,
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
    await pause(retryMs, undefined, { signal });
  }
}
