// Determines whether `npm start` has used this database, so that the demo is loaded once, and finds a name to query.

import type { Database } from '../postgres/database.ts';

const NAME = 'STARTED';

/** Returns false if there was a start before, or if the database already has zones and must not get the demo. */
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

/** Returns the apex of a served zone as text: `preferred` if it is served. Returns undefined if there is none. */
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
