// Which version of a parent zone of ours brought the DS set of a domain, or took it away.

import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { loadHeldDsVersion } from '../../../src/store/dnssec/held-ds-version.ts';
import { saveZones } from '../../../src/store/zones/save-zones.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const LAB = parseName('lab.');
const CHILD = parseName('del.lab.');

const database = sharedDatabase();

const save = (serial: number, ...lines: string[]) => {
  const apex = `@ 300 SOA ns.lab. host.lab. ${serial} 3600 600 86400 120\n@ NS ns.lab.\nns A 192.0.2.53\n`;
  const records = recordsOf(`${apex}del NS ns1.example.\n${lines.join('\n')}\n`, 'lab.');
  return saveZones(database.db, [{ apex: LAB, records }], { source: 'test', actor: 'me' });
};
const version = async () => (await loadHeldDsVersion(database.db, LAB, CHILD))?.version;
const zoneVersion = async () =>
  (await sql<{ version: number }>`select version from zones`.execute(database.db)).rows[0]?.version;
const DS = `del DS 12345 13 2 ${'07'.repeat(32)}`;

test('is that of the newest change of its records, not of the zone; a removal has one too', async () => {
  expect(await version()).toBeUndefined();
  await save(1);
  const first = await zoneVersion();
  expect(await version()).toBe(first);
  await save(2, 'other A 192.0.2.1');
  expect(await version()).toBe(first);
  await save(3, 'other A 192.0.2.1', DS);
  const appeared = await zoneVersion();
  expect(await version()).toBe(appeared);
  await save(4, DS);
  expect(await version()).toBe(appeared);
  await save(5);
  expect(await version()).toBe(await zoneVersion());
});

test('of a set that never changed since old rows were forgotten, is that time’s', async () => {
  await save(1);
  const { db } = database;
  await sql`with gone as (delete from zone_records where owner = 'del.lab.') update zones set complete_since = 7`.execute(
    db,
  );
  expect(await version()).toBe(7);
});
