// Looks for secrets in every row of every table, also in the form in which octets are printed.

import { sql } from 'kysely';
import type { Database } from '../../../src/store/postgres/database.ts';

interface Looked {
  /** The places where something was looked for: tables, and those of `more`. */
  readonly places: readonly string[];
  /** `name in place`. */
  readonly found: readonly string[];
}

/** `more`: further texts, by where they are from. */
export async function findSecrets(
  db: Database,
  secrets: ReadonlyMap<string, string>,
  more: ReadonlyMap<string, string>,
): Promise<Looked> {
  const { rows: tables } = await sql<{ name: string }>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema')`.execute(db);
  const texts = new Map(more);
  for (const { name } of tables) {
    const { rows } = await sql.raw<{ line: string }>(`select t::text as line from ${name} t`).execute(db);
    texts.set(name, rows.map(({ line }) => line).join('\n'));
  }
  const found = [...texts].flatMap(([place, text]) =>
    [...secrets]
      .filter(([, secret]) => text.includes(secret) || text.includes(Buffer.from(secret).toString('hex')))
      .map(([name]) => `${name} in ${place}`),
  );
  return { places: [...texts.keys()], found };
}
