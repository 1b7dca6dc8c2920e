// How many domains an account of a plan may have.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `alter table plans add column max_domains integer check (max_domains >= 0)`,
  `update plans set max_domains = case slug when 'free' then 100 when 'pro' then 10000 end`,
];
