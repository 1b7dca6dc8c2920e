// Whether the API or the workers can do their work: Postgres answers, its schema is not older than ours, and no write failed for
// lack of disk space a moment ago. Postgres is asked at most twice a second, and each attempt is given up after two seconds.

import type { Readiness } from '../../process/listen-health.ts';
import { DatabaseSilence } from './bounded-client.ts';
import type { Database } from './database.ts';
import { OUTAGES, type OutageKind, outageOf } from './outage.ts';
import { checkSchema, SchemaError } from './schema-version.ts';

const FRESH_MS = 500;
const ANSWER_TIMEOUT_MS = 2000;

/** `lacking`: the outage that writes have met lately. */
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
    timer = setTimeout(() => fail(new DatabaseSilence('no answer in time')), ANSWER_TIMEOUT_MS);
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
