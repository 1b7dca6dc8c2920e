// The state of `npm start -- --demo`, and whether the demo may use a database.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

const NAME = 'DEMO';

interface DemoState {
  /** Names of completed demo steps, which are not repeated. */
  readonly done: readonly string[];
}

export async function loadDemoState(db: Database): Promise<DemoState> {
  const row = await db.selectFrom('settings').select('value').where('name', '=', NAME).executeTakeFirst();
  return row === undefined ? { done: [] } : (row.value as DemoState);
}

export async function saveDemoState(db: Database, state: DemoState): Promise<void> {
  const value = JSON.stringify(state);
  await db
    .insertInto('settings')
    .values({ name: NAME, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute();
}

/** Names that cannot be registered (RFC 2606, RFC 6761). */
const RESERVED = '(^|\\.)(test|example|invalid|localhost|example\\.(com|net|org|edu))\\.$';

/** Returns some domains that may be real, as text. Checks below a private root would consider them lost. */
export async function findRealDomains(db: Database, limit: number): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select distinct name from domains where deleted_at is null and name !~ ${RESERVED}
    order by name limit ${limit}`.execute(db);
  return rows.map(({ name }) => name);
}
