// What a node loads: the difference where that is enough, else the whole zone.

import { afterEach, beforeEach, expect, test } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import {
  BUCKETS,
  listZoneStates,
  loadChangedZones,
  loadFingerprints,
  zoneFingerprint,
} from '../../../src/store/feed/load-changed-zones.ts';
import { type Connection, connect } from '../../../src/store/postgres/connection.ts';
import { saveZones, unloadZones } from '../../../src/store/zones/save-zones.ts';
import { smallZone } from '../../support/processes/follow.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

const BY = { source: 'test' } as const;
const A = parseName('a.example.');

const database = sharedDatabase();
let connection: Connection;

beforeEach(async () => {
  connection = await connect(database.url, { applicationName: 'test' });
});
afterEach(async () => {
  await connection.close();
});

/** The first zone's. */
const stateOf = async () => (await listZoneStates(connection, 0, 10))[0];
const load = async (since: Awaited<ReturnType<typeof stateOf>>) =>
  await loadChangedZones(connection, [{ id: since?.id as number, since }]);

test('from a version that is part of history the changed sets are loaded whole, the others not at all', async () => {
  const { db } = database;
  await saveZones(db, [smallZone('a.example.', 1, 'x A 192.0.2.1\nx A 192.0.2.2\ny TXT "y"')], BY);
  const since = await stateOf();
  await saveZones(db, [smallZone('a.example.', 1, 'x A 192.0.2.1\nx A 192.0.2.3\nz TXT "z"')], BY);
  const [zone] = await load(since);
  expect(zone).toMatchObject({ apex: A, partial: true, deleted: false });
  const owners = zone?.records.map((record) => record.owner).sort();
  const [x, y, z] = ['x', 'y', 'z'].map((label) => parseName(`${label}.a.example.`));
  expect(owners).toEqual([x, x, z]);
  expect(zone?.gone).toEqual([{ owner: y, type: 16 }]);
  expect(zone?.version).toBe((await stateOf())?.version);
});

test('from a version that history does not know, the whole zone is loaded', async () => {
  const { db } = database;
  await saveZones(db, [smallZone('a.example.', 1)], BY);
  const since = await stateOf();
  await saveZones(db, [smallZone('a.example.', 2)], BY);
  const lost = since && { ...since, mark: since.mark + 1 };
  const [zone] = await load(lost);
  expect(zone).toMatchObject({ partial: false, gone: [] });
  expect(zone?.records).toHaveLength(3);
  const [known] = await load(since);
  expect(known?.partial).toBe(true);
});

test('a zone that was deleted and made again is loaded whole, a deleted one has no records', async () => {
  const { db } = database;
  await saveZones(db, [smallZone('a.example.', 1)], BY);
  const since = await stateOf();
  await unloadZones(db, [A], BY);
  expect(await load(since)).toMatchObject([{ deleted: true, records: [] }]);
  await saveZones(db, [smallZone('a.example.', 2)], BY);
  const [zone] = await load(since);
  expect(zone).toMatchObject({ deleted: false, partial: false });
  expect(zone?.records).toHaveLength(3);
  expect(await loadChangedZones(connection, [{ id: 2 ** 30, since: undefined }])).toEqual([]);
});

test('fingerprints are the same in SQL and here', async () => {
  const { db } = database;
  await saveZones(
    db,
    Array.from({ length: 1500 }, (_, i) => smallZone(`z${i}.example.`, 1)),
    BY,
  );
  await unloadZones(db, [parseName('z7.example.')], BY);
  const sums = new Float64Array(BUCKETS);
  for (const zone of await listZoneStates(connection, 0, 2000)) {
    sums[zone.id % BUCKETS] = (sums[zone.id % BUCKETS] as number) + zoneFingerprint(zone);
  }
  expect(await loadFingerprints(connection)).toEqual(sums);
});
