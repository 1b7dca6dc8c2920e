// What `npm start` asks the database: whether it has run on it before (remembered beside the settings, so that the demo
// is loaded only once), and a question that is answered from it.

import type { Database } from './database.ts';

const NAME = 'STARTED';

/** False also where somebody has put zones in before us: such a database is no place for a demo. */
export async function isFirstStart(db: Database): Promise<boolean> {
  const started = await db.selectFrom('settings').select('name').where('name', '=', NAME).executeTakeFirst();
  if (started !== undefined) return false;
  return (await db.selectFrom('zones').select('id').limit(1).executeTakeFirst()) === undefined;
}

export async function rememberStart(db: Database): Promise<void> {
  await db
    .insertInto('settings')
    .values({ name: NAME, value: JSON.stringify(new Date().toISOString()) })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute();
}

/** The apex of a served zone, as text: `preferred` if that is one. Undefined when there is none. */
export async function loadSampleApex(db: Database, preferred: string): Promise<string | undefined> {
  const zone = await db
    .selectFrom('zones')
    .select('name')
    .where('deleted_at', 'is', null)
    .orderBy((row) => row('name', '<>', preferred))
    .orderBy('name')
    .executeTakeFirst();
  return zone?.name;
}
