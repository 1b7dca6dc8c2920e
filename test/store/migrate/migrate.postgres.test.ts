// The schema, and the stored settings that answers are made of.

import { sql } from 'kysely';
import { afterEach, expect, test } from 'vitest';
import { checkSchema, migrate } from '../../../src/store/migrate/migrate.ts';
import { migrations } from '../../../src/store/migrate/migrations.ts';
import { loadAnswerSettings } from '../../../src/store/postgres/answer-settings.ts';
import { openDatabase } from '../../../src/store/postgres/database.ts';
import { saveZones } from '../../../src/store/zones/save-zones.ts';
import { createDatabase, TEST_SETTINGS, type TestDatabase } from '../../support/database/database.ts';
import { smallZone } from '../../support/processes/follow.ts';

const UNCHANGED = { applied: [], changed: [], zones: 0 };

let database: TestDatabase;
afterEach(() => database.drop());

test('one of several concurrent processes migrates an empty database, which the others find up to date', async () => {
  database = await createDatabase({ empty: true });
  await expect(checkSchema(database.db)).rejects.toThrow('has no schema yet');
  const others = Array.from({ length: 4 }, () => openDatabase(database.url, { maxConnections: 1 }));
  const results = await Promise.all(others.map((db) => migrate(db, TEST_SETTINGS)));
  await Promise.all(others.map((db) => db.destroy()));
  expect(results.flatMap(({ applied }) => applied)).toEqual(Object.keys(migrations));
  expect(results.flatMap(({ changed }) => changed)).toEqual([]);
  expect(await migrate(database.db, TEST_SETTINGS)).toMatchObject(UNCHANGED);
  expect(await loadAnswerSettings(database.db)).toEqual(TEST_SETTINGS);
});

test('a program accepts a newer schema and refuses an older one', async () => {
  database = await createDatabase();
  const { db } = database;
  await checkSchema(db);
  await sql`insert into kysely_migration (name, timestamp) values ('9999-later', '')`.execute(db);
  await checkSchema(db);
  expect(await migrate(db, TEST_SETTINGS)).toMatchObject({ applied: [] });
  await sql`delete from kysely_migration where name not like '9999%'`.execute(db);
  await expect(checkSchema(db)).rejects.toThrow('older than this program (it lacks 0001-operator-zones, ');
});

test('migrate stores and reports settings that differ, and does not publish operator zones again', async () => {
  database = await createDatabase();
  const { db } = database;
  await saveZones(db, [smallZone('op.test.', 1)], { source: 'test' });
  const next = { ...TEST_SETTINGS, edgeIpv4: ['192.0.2.2'], soaRname: 'root.example.net' };
  expect(await migrate(db, next)).toMatchObject({ ...UNCHANGED, changed: ['EDGE_IPV4', 'SOA_RNAME'] });
  expect(await loadAnswerSettings(db)).toEqual(next);
  expect(await db.selectFrom('changes').select('source').execute()).toEqual([{ source: 'test' }]);
});
