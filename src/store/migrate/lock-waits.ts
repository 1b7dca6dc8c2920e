// Waits of a migration for tables that other sessions use.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

/** Limits each wait of this connection for a lock. 0 is unlimited. */
export async function limitLockWaits(connection: Database, limitMs: number): Promise<void> {
  await sql.raw(`set lock_timeout = ${limitMs}`).execute(connection);
}

const MOST_LISTED = 3;

/** Describes the oldest transactions of other sessions of this database. */
export async function listOpenTransactions(db: Database): Promise<string[]> {
  const { rows } = await sql<{ text: string }>`
    select format('pid %s (%s) since %s', pid, coalesce(nullif(application_name, ''), usename),
        to_char(xact_start at time zone 'utc', 'HH24:MI:SS')) as text
    from pg_stat_activity
    where datname = current_database() and xact_start is not null and pid <> pg_backend_pid()
    order by xact_start limit ${MOST_LISTED}`.execute(db);
  return rows.map(({ text }) => text);
}
