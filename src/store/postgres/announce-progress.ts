// Tells whoever listens how far a check is. Nothing is stored, and nobody waits: what is not heard is not told again.

import { sql } from 'kysely';
import type { Database } from './database.ts';

export const PROGRESS_CHANNEL = 'zonefleet_progress';
/** Postgres takes less than 8000. */
const MAX_PROGRESS_BYTES = 4000;

/** Never throws. What is too long is left out. */
export async function announceProgress(db: Database, progress: object): Promise<void> {
  const text = JSON.stringify(progress);
  if (Buffer.byteLength(text) > MAX_PROGRESS_BYTES) return;
  await sql`select pg_notify(${PROGRESS_CHANNEL}, ${text})`.execute(db).catch(() => undefined);
}
