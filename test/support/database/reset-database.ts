// Empties a database to the state of the template. A test file that creates databases one after the other gets the same one
// again: its open connections have their catalogs and plans cached, which takes most of the time of a short test.

import { sql } from 'kysely';
import type { Database } from '../../../src/store/postgres/database.ts';

export interface TemplateState {
  /** Identifies tables, columns, triggers, functions and rights. */
  readonly schema: string;
  /** Rows of the tables that are not empty, as JSON. */
  readonly rows: ReadonlyMap<string, string>;
  /** Position of each sequence that has been used. */
  readonly sequences: readonly { readonly name: string; readonly last: string }[];
}

const SYSTEM = sql`('pg_catalog', 'information_schema', 'pg_toast')`;

export async function readTemplateState(db: Database): Promise<TemplateState> {
  const { rows: tables } = await sql<{ name: string }>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname not in ${SYSTEM}`.execute(
    db,
  );
  const rows = new Map<string, string>();
  for (const { name } of tables) {
    const { rows: found } = await sql<{ all: string | null }>`
      select json_agg(t)::text as all from ${sql.raw(name)} t`.execute(db);
    if (found[0]?.all) rows.set(name, found[0].all);
  }
  const { rows: sequences } = await sql<{ name: string; last: string }>`
    select format('%I.%I', schemaname, sequencename) as name, last_value::text as last
    from pg_sequences where last_value is not null`.execute(db);
  return { schema: await fingerprint(db), rows, sequences };
}

/** False if the schema has changed, or if a connection is in the middle of something: then the database must be dropped. */
export async function isReusable(db: Database, { schema }: TemplateState): Promise<boolean> {
  const { rows } = await sql<{ busy: number }>`
    select count(*)::int as busy from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`.execute(db);
  return rows[0]?.busy === 0 && (await fingerprint(db)) === schema;
}

/** With `keepsIds` an id of a deleted row is not used again: a process that has rows cached by their ids may go on. */
export async function resetDatabase(
  db: Database,
  { rows, sequences }: TemplateState,
  { keepsIds = false } = {},
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await sql`set local session_replication_role = replica`.execute(trx); // without triggers and foreign keys
    await sql
      .raw(`do $$
        declare name text;
        begin
          for name in select format('%I.%I', schemaname, tablename) from pg_tables
            where schemaname not in ('pg_catalog', 'information_schema', 'pg_toast')
          loop execute 'delete from ' || name; end loop;
          for name in select format('%I.%I', schemaname, sequencename) from pg_sequences
            where last_value is not null and not ${keepsIds}
          loop execute 'alter sequence ' || name || ' restart'; end loop;
        end $$`)
      .execute(trx);
    for (const [name, all] of rows)
      await sql`
        insert into ${sql.raw(name)} overriding system value
        select * from json_populate_recordset(null::${sql.raw(name)}, ${all}::json)`.execute(trx);
    if (keepsIds) return;
    for (const { name, last } of sequences) await sql`select setval(${name}, ${last}::bigint)`.execute(trx);
  });
}

async function fingerprint(db: Database): Promise<string> {
  const { rows } = await sql<{ text: string }>`
    select md5(string_agg(line, E'\n' order by line)) as text from (
      select format('%s %s %s %s %s', c.oid, relname, relnatts, relchecks, relacl) as line
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where nspname not in ${SYSTEM} and nspname !~ '^pg_(temp|toast)'
      union all
      select format('%s %s', oid, tgenabled) from pg_trigger
      union all
      select format('%s %s', p.oid, md5(prosrc)) from pg_proc p join pg_namespace n on n.oid = pronamespace
      where nspname not in ${SYSTEM}
      union all
      select format('%s %s', nspname, nspacl) from pg_namespace where nspname !~ '^pg_(temp|toast)'
      union all
      select format('%s %s', setrole, setconfig) from pg_db_role_setting s join pg_database d on d.oid = setdatabase
      where datname = current_database()) s`.execute(db);
  return rows[0]?.text as string;
}
