// Which version of a zone a node serves follows from the transactions that it has seen.

import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import { loadServing } from '../../../src/store/dnssec/nodes-serving.ts';
import { EPOCH_SQL } from '../../../src/store/feed/change-feed.ts';
import { newAccount, newDomain, saved } from '../../support/database/domains.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { edit } from '../../support/zone/customer-records.ts';

const database = sharedDatabase();
let domainId: number;
let zoneId: number;

beforeEach(async () => {
  const { db } = database;
  domainId = (await newDomain(db, await newAccount(db, 'a@example.org'))).id;
  const { rows } = await sql<{ id: number }>`select zone_id as id from domains`.execute(db);
  zoneId = (rows[0] as { id: number }).id;
  await sql`
    insert into nodes (name, instance, started_at, loaded, zones, records, unserved)
    values ('ns1', gen_random_uuid(), clock_timestamp(), true, 0, 0, '{}')`.execute(db);
});

const follow = () =>
  sql`
    update nodes set snapshot = pg_current_snapshot(), epoch = (select ${sql.raw(EPOCH_SQL)} from feed)`.execute(
    database.db,
  );
const change = async (name: string) =>
  (await saved(database.db, domainId, edit({ create: [`${name} A 198.51.100.1`] }))).changeId;
const versionAt = async (zone: number | null = zoneId) =>
  (await loadServing(database.db, zone)).nodes[0]?.version;
const setNode = async (columns: string) => await sql.raw(`update nodes set ${columns}`).execute(database.db);

test('a node has the changes that its snapshot sees, and no later one', async () => {
  expect(await versionAt()).toBeNull();
  const first = await change('a');
  await follow();
  const second = await change('b');
  expect(await versionAt()).toBe(first);
  await follow();
  expect(await versionAt()).toBe(second);
});

test('a node of another epoch, one that is loading, and one without room for the zone have no version of it', async () => {
  await change('a');
  for (const [broken, mended] of [
    ["epoch = 'another'", undefined],
    ['loaded = false', 'loaded = true'],
    [`unserved = '{${zoneId}}'`, "unserved = '{}'"],
    ['unserved = null', "unserved = '{}'"],
  ] as const) {
    await follow();
    expect(await versionAt()).not.toBeNull();
    await setNode(broken);
    expect(await versionAt()).toBeNull();
    if (mended !== undefined) await setNode(mended);
  }
});

test('when the changes of a zone are purged, a node that has seen them all has its version, and another one has none', async () => {
  const { db } = database;
  const version = await change('a');
  const purge = (xid: string) =>
    sql`with gone as (delete from changes) update feed set purged_xid = ${sql.raw(xid)}`.execute(db);
  await follow();
  const before = await sql<{ snapshot: string }>`select snapshot::text from nodes`.execute(db);
  await change('b');
  await purge('pg_snapshot_xmax(pg_current_snapshot())::text::xid8');
  await sql`update nodes set snapshot = ${before.rows[0]?.snapshot}::pg_snapshot`.execute(db);
  expect(await versionAt()).toBeNull();
  await follow();
  await change('c'); // so that the snapshot's past is all purged
  await follow();
  expect(await versionAt()).toBeGreaterThan(version);
});

test('nodes lack nothing of a domain that has no zone, and say when they were heard and whether they are gone', async () => {
  await follow();
  expect(await versionAt(null)).toBe(Number.MAX_SAFE_INTEGER);
  const { nodes, at } = await loadServing(database.db, null);
  expect(nodes).toMatchObject([{ id: 'ns1', isGone: false }]);
  expect(at.getTime() - (nodes[0]?.heardAt as number)).toBeGreaterThanOrEqual(0);
  await setNode('forgotten_at = clock_timestamp()');
  expect((await loadServing(database.db, null)).nodes[0]?.isGone).toBe(true);
  await setNode('seen_at = clock_timestamp()');
  expect((await loadServing(database.db, null)).nodes[0]?.isGone).toBe(false);
  await setNode('left_at = clock_timestamp()');
  expect((await loadServing(database.db, null)).nodes[0]?.isGone).toBe(true);
});
