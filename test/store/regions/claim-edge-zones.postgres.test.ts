// Due zones are claimed every two seconds, so only indexes are read, for any number of signed zones.

import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { claimDueEdgeZones } from '../../../src/store/regions/claim-edge-zones.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';

const KEY = '5'.repeat(32);
const ZONES = 20_000;

const { db, query } = keptDatabase();

beforeAll(async () => {
  await query`
    insert into zones (name, kind, version, mark, records)
    select 'z' || i || '.test.', 'operator', i, 1, 1 from generate_series(1, ${ZONES}::int) i`;
  await query`
    insert into edge_signings (zone_id, zone_version, sets, expires_at)
    select id, version, ${KEY}, now() + interval '12 days' from zones`;
  await query`vacuum analyze edge_signings`;
});

/** Returns the claimed zones, and how many rows of the table Postgres has read. */
async function claim(key: string): Promise<{ readonly due: number; readonly read: number }> {
  return await db.transaction().execute(async (trx) => {
    const due = await claimDueEdgeZones(trx, key, 20);
    const { rows } = await sql<{ read: number }>`
      select (seq_tup_read + idx_tup_fetch)::int as read from pg_stat_xact_user_tables
      where relname = 'edge_signings'`.execute(trx);
    return { due: due.length, read: rows[0]?.read as number };
  });
}

test('reads no zone while none is due', async () => {
  expect(await claim(KEY)).toEqual({ due: 0, read: 0 });
});

test('finds changed zones, zones signed for other sets, and zones whose signatures expire soon among all others', async () => {
  await query`
    update edge_signings set changed = 1 where zone_id = (select id from zones where name = 'z100.test.')`;
  await query`
    update edge_signings set expires_at = now() + interval '8 days'
    where zone_id = (select id from zones where name = 'z200.test.')`;
  for (const [name, sets] of [
    ['z300.test.', '0'],
    ['z400.test.', '9'],
  ])
    await query`
      update edge_signings set sets = ${sets} where zone_id = (select id from zones where name = ${name})`;
  const { due, read } = await claim(KEY);
  expect(due).toBe(4);
  expect(read).toBeLessThan(100);
  expect((await claim(KEY)).due).toBe(0); // leased
});

test('when the sets change, all zones are due, a few at a time, each once', async () => {
  const { due, read } = await claim('other');
  expect(due).toBe(20);
  expect(read).toBeLessThan(500);
  expect((await claim('other')).due).toBe(20);
});
