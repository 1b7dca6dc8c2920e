// The retention: what is older goes, what a node may still need stays.

import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { purgeFeed } from '../../../src/store/housekeeping/purge-feed.ts';
import { loadZone } from '../../../src/store/zones/load-zones.ts';
import { saveZones, unloadZones } from '../../../src/store/zones/save-zones.ts';
import { smallZone } from '../../support/processes/follow.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

const BY = { source: 'test' } as const;

const database = sharedDatabase();

async function age(days: number): Promise<void> {
  await sql`update changes set at = at - make_interval(days => ${days})`.execute(database.db);
  await sql`update zones set deleted_at = deleted_at - make_interval(days => ${days})`.execute(database.db);
}

test('changes, tombstones and deleted zones older than the retention go, and leave their marks', async () => {
  const { db } = database;
  await saveZones(db, [smallZone('a.example.', 1, 'x A 192.0.2.1'), smallZone('b.example.', 1)], BY);
  const [old] = await saveZones(db, [smallZone('a.example.', 1)], BY);
  await unloadZones(db, [parseName('b.example.')], BY);
  await age(8);
  const [young] = await saveZones(db, [smallZone('a.example.', 1, 'y A 192.0.2.1')], BY);
  const [gone] = await saveZones(db, [smallZone('a.example.', 1)], BY);
  expect(await purgeFeed(db, 7)).toEqual({ changes: 4 });
  const left = await db.selectFrom('changes').select('id').orderBy('id').execute();
  expect(left.map((row) => row.id)).toEqual([young?.version, gone?.version]);
  const tombstones = await db
    .selectFrom('zone_records')
    .select('version')
    .where('removed', '=', true)
    .execute();
  expect(tombstones).toEqual([{ version: gone?.version }]);
  const zones = await db.selectFrom('zones').select(['name', 'complete_since']).execute();
  expect(zones).toEqual([{ name: 'a.example.', complete_since: old?.version }]);
  const { rows } = await sql<{ ok: boolean }>`
      select purged_xid > '0'::xid8 and purged_xid < (select min(xid::text::bigint)::text::xid8 from changes) as ok
      from feed`.execute(db);
  expect(rows).toEqual([{ ok: true }]);
  expect((await loadZone(db, parseName('a.example.')))?.records).toHaveLength(3);
});

test('a purge does not wait for a writer, and takes nothing that the writer revives', async () => {
  const { db } = database;
  await saveZones(db, [smallZone('a.example.', 1, 'x A 192.0.2.1')], BY);
  await saveZones(db, [smallZone('a.example.', 1)], BY);
  await age(8);
  await db.transaction().execute(async (trx) => {
    await sql`select from zones for update`.execute(trx);
    await purgeFeed(db, 7);
  });
  expect(await db.selectFrom('zone_records').selectAll().where('removed', '=', true).execute()).toHaveLength(
    1,
  );
  await saveZones(db, [smallZone('a.example.', 1, 'x A 192.0.2.1')], BY);
  await age(8);
  await purgeFeed(db, 7);
  expect((await loadZone(db, parseName('a.example.')))?.records).toHaveLength(4);
});
