// The silences that workers tell each other: addresses and parents that are not to be asked for a while (RFC 9520).

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

/** Without a count: it has answered. Times are milliseconds since 1970. */
interface StoredSilence {
  readonly key: string;
  readonly count: number;
  readonly until: number;
}

/** A round tells and learns so many; the rest comes with the next one. */
const MOST_AT_ONCE = 2000;
const KEPT_SECONDS = 7200;
/** Rows that a slower transaction adds behind the place are still seen. */
const OVERLAP_SECONDS = 5;

/** Tells these silences; one key may come once. */
export async function tellSilences(db: Database, silences: readonly StoredSilence[]): Promise<void> {
  const told = silences.slice(0, MOST_AT_ONCE);
  if (told.length === 0) return;
  await sql`
    insert into resolver_silences as s (key, count, until, noted_at)
    select n.key, n.count, to_timestamp(n.until / 1000), clock_timestamp()
    from jsonb_to_recordset(${JSON.stringify(told)}::jsonb) as n(key text, count integer, until float8)
    order by n.key collate "C"
    on conflict (key) do update
      set count = excluded.count, until = excluded.until, noted_at = excluded.noted_at`.execute(db);
}

/** The silences that were told since a place; `after` is the place of the next call. */
export async function learnSilences(
  db: Database,
  after: Date | undefined,
): Promise<{ readonly silences: StoredSilence[]; readonly after: Date | undefined }> {
  const { rows } = await sql<StoredSilence & { noted: Date }>`
    select key, count, (extract(epoch from until) * 1000)::float8 as until, noted_at as noted from resolver_silences
    where noted_at > coalesce(${after ?? null}::timestamptz - make_interval(secs => ${OVERLAP_SECONDS}),
      '-infinity'::timestamptz)
    order by noted_at limit ${MOST_AT_ONCE}`.execute(db);
  const silences = rows.map(({ noted: _, ...silence }) => silence);
  const last = rows.at(-1)?.noted;
  // A full round of rows within the overlap must not be read for ever.
  const isStuck = rows.length === MOST_AT_ONCE && last !== undefined && after !== undefined && last <= after;
  return { silences, after: isStuck ? new Date(after.getTime() + OVERLAP_SECONDS * 1000) : (last ?? after) };
}

export async function purgeSilences(db: Database): Promise<void> {
  await sql`
    delete from resolver_silences where key = any(array(
      select key from resolver_silences
      where noted_at < clock_timestamp() - make_interval(secs => ${KEPT_SECONDS}) for update skip locked))`.execute(
    db,
  );
}
