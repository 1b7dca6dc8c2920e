// Resets a database to the state of the template. Open connections keep their catalogs and plans, so this takes a tenth
// of the time of a new database.

import { sql } from 'kysely';
import type { Database } from '../../../src/store/postgres/database.ts';

/** Rows of the tables that are not empty, as JSON. */
export type TemplateRows = ReadonlyMap<string, string>;

/** Creates the function that deletes all rows. Its statements are planned once per connection. */
export async function prepareTemplate(db: Database): Promise<void> {
  const rows = await readTemplateRows(db);
  const statements = (await listTables(db)).map(
    (name) => `if ${rows.has(name) ? 'all_tables and ' : ''}exists (select from ${name}) then
      delete from ${name}; end if;`,
  );
  await sql`create schema emptying`.execute(db);
  await sql
    .raw(`
    create function emptying.delete_rows(all_tables boolean) returns void language plpgsql as $$ begin
      perform set_config('session_replication_role', 'replica', true); -- without triggers and foreign keys
      ${statements.join('\n')}
    end $$`)
    .execute(db);
}

export async function readTemplateRows(db: Database): Promise<TemplateRows> {
  const rows = new Map<string, string>();
  for (const name of await listTables(db)) {
    const { rows: found } = await sql<{ all: string | null }>`
      select json_agg(t)::text as all from ${sql.table(name)} t`.execute(db);
    if (found[0]?.all) rows.set(name, found[0].all);
  }
  return rows;
}

/**
 * Ids of deleted rows are not used again, because processes may have cached rows by id. Without `restores`, tables that
 * have rows in the template, such as plans and settings, are left unchanged.
 */
export async function resetDatabase(
  db: Database,
  template: TemplateRows,
  { restores = true } = {},
): Promise<void> {
  if (!restores) return void (await sql`select emptying.delete_rows(false)`.execute(db));
  await db.transaction().execute(async (trx) => {
    await sql`select emptying.delete_rows(true)`.execute(trx);
    for (const [name, all] of template)
      await sql`
        insert into ${sql.table(name)} overriding system value
        select * from json_populate_recordset(null::${sql.table(name)}, ${all}::json)`.execute(trx);
  });
}

async function listTables(db: Database): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = 'public'`.execute(db);
  return rows.map(({ name }) => name);
}
