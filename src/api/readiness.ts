// Whether the API can do its work: Postgres answers, and its schema is not older than ours. Asked at most twice a second,
// however many ask us; one that does not answer in time is as good as gone.

import type { Database } from '../store/database.ts';
import { checkSchema, SchemaError } from '../store/migrate.ts';
import type { Readiness } from './health.ts';

const FRESH_MS = 500;
const ANSWER_TIMEOUT_MS = 2000;

export function databaseReadiness(db: Database): () => Promise<Readiness> {
  let asked: Promise<Readiness> | undefined;
  let answeredAtMs = Number.NEGATIVE_INFINITY;
  return () => {
    if (asked !== undefined && performance.now() - answeredAtMs < FRESH_MS) return asked;
    answeredAtMs = Number.POSITIVE_INFINITY;
    asked = ask(db).finally(() => {
      answeredAtMs = performance.now();
    });
    return asked;
  };
}

async function ask(db: Database): Promise<Readiness> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, fail) => {
    timer = setTimeout(() => fail(new Error('no answer in time')), ANSWER_TIMEOUT_MS);
  });
  try {
    await Promise.race([checkSchema(db), late]);
    return { kind: 'ready' };
  } catch (error) {
    const reason = error instanceof SchemaError ? error.message : 'the database cannot be reached';
    return { kind: 'waiting', reason };
  } finally {
    clearTimeout(timer);
  }
}
