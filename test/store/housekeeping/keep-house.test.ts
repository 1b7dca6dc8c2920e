import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { purgeOld } from '../../../src/store/housekeeping/keep-house.ts';
import { saveZones } from '../../../src/store/zones/save-zones.ts';
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';
import { smallZone } from '../../support/processes/follow.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createDatabase();
});
afterEach(() => database.drop());

it('forgets old changes at most once an hour, whoever asks', async () => {
  const { db } = database;
  await saveZones(db, [smallZone('a.example.', 1)], { source: 'test' });
  await sql`update changes set at = at - interval '8 days'`.execute(db);
  const changes = async () => (await db.selectFrom('changes').selectAll().execute()).length;
  await sql`update feed set purged_at = clock_timestamp() - interval '59 minutes'`.execute(db);
  await purgeOld(db);
  expect(await changes()).toBe(1);
  await sql`update feed set purged_at = clock_timestamp() - interval '61 minutes'`.execute(db);
  await purgeOld(db);
  expect(await changes()).toBe(0);
});

it('a writer forgets nothing: no call waits for it', async () => {
  const { db } = database;
  await saveZones(db, [smallZone('a.example.', 1)], { source: 'test' });
  await sql`update changes set at = at - interval '8 days'`.execute(db);
  await sql`update feed set purged_at = clock_timestamp() - interval '61 minutes'`.execute(db);
  await saveZones(db, [smallZone('b.example.', 1)], { source: 'test' });
  expect(await db.selectFrom('changes').selectAll().execute()).toHaveLength(2);
});
