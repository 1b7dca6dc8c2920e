// Brings checks forward that are planned for later: the demo shows in a minute what takes hours elsewhere. A check that is due
// or under way is left alone.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

/** Of domains that may change soon: those that wait, that have moved, or that missed a check. */
export async function hastenWaiting(db: Database, seconds: number): Promise<void> {
  await sql`
    update domain_checks c set ${at(seconds)} from domains d
    where d.id = c.domain_id and d.deleted_at is null and ${isLater(seconds)}
      and (d.status in ('pending', 'moved') or c.miss_count > 0)`.execute(db);
}

/** Of every domain with one of these names, as text with the final dot. */
export async function hastenNames(db: Database, names: readonly string[], seconds: number): Promise<void> {
  await sql`
    update domain_checks c set ${at(seconds)} from domains d
    where d.id = c.domain_id and d.deleted_at is null and ${isLater(seconds)}
      and d.name = any(${names}::text[])`.execute(db);
}

function at(seconds: number) {
  const time = sql`now() + make_interval(secs => ${seconds})`;
  return sql`due_at = ${time}, next_at = ${time}`;
}

function isLater(seconds: number) {
  const time = sql`now() + make_interval(secs => ${seconds})`;
  return sql`c.next_at > ${time} and c.due_at > ${time}`;
}
