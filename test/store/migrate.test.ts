// The schema and the stored settings.

import { Migrator, sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loadAnswerSettings, saveAnswerSettings } from '../../src/store/answer-settings.ts';
import { openDatabase } from '../../src/store/database.ts';
import { checkSchema, migrate } from '../../src/store/migrate.ts';
import { migrations } from '../../src/store/migrations.ts';
import { saveZones } from '../../src/store/save-zones.ts';
import { edit } from '../support/customer-records.ts';
import { createDatabase, TEST_SETTINGS, type TestDatabase, testServers } from '../support/database.ts';
import { expectPublished, newAccount, newDomain, published, saved } from '../support/domains.ts';
import { smallZone } from '../support/follow.ts';

describe.each(testServers())('on $name', (server) => {
  let database: TestDatabase;

  beforeEach(async () => {
    database = await createDatabase({ server, empty: true });
  });
  afterEach(() => database.drop());

  test('many processes may migrate at once: the work is done once, and again changes nothing', async () => {
    const others = Array.from({ length: 6 }, () => openDatabase(database.url, { maxConnections: 1 }));
    const results = await Promise.all(others.map((db) => migrate(db, TEST_SETTINGS)));
    await Promise.all(others.map((db) => db.destroy()));
    expect(results.flatMap((result) => result.applied)).toEqual(Object.keys(migrations));
    expect(results.flatMap((result) => result.changed)).toEqual([]);
    expect(await migrate(database.db, TEST_SETTINGS)).toEqual({ applied: [], changed: [], zones: 0 });
    expect(await loadAnswerSettings(database.db)).toEqual(TEST_SETTINGS);
  });

  test('no schema and an older one are refused, a newer one is not', async () => {
    await expect(checkSchema(database.db)).rejects.toThrow('has no schema yet');
    await migrate(database.db, TEST_SETTINGS);
    await checkSchema(database.db);
    await sql`insert into kysely_migration (name, timestamp) values ('9999-later', '')`.execute(database.db);
    await checkSchema(database.db);
    expect(await migrate(database.db, TEST_SETTINGS)).toMatchObject({ applied: [] });
    await sql`delete from kysely_migration where name not like '9999%'`.execute(database.db);
    await expect(checkSchema(database.db)).rejects.toThrow(
      'older than this program (it lacks 0001-operator-zones, ',
    );
  });

  test('names that publish nothing get their marks in a database that is older than marks', async () => {
    const { db } = database;
    const provider = { getMigrations: async () => migrations };
    const { error } = await new Migrator({ db, provider }).migrateTo('0003-rate-limits');
    expect(error).toBeUndefined();
    await db.transaction().execute((trx) => saveAnswerSettings(trx, TEST_SETTINGS));
    const accountId = await newAccount(db, 'a@example.org');
    const { id } = await newDomain(db, accountId);
    const plain = await newDomain(db, accountId, 'plain.test.');
    await saved(db, id, edit({ create: ['m TXT x', 't TXT x'] }));
    // as it was left then: the record is there, and nothing is published
    await sql`update records set type = 'ANAME', rdata = '\\x00', identity = '\\x00' where name like 'm.%'`.execute(
      db,
    );
    await sql`delete from zone_records where owner like 'm.%'`.execute(db);
    await sql`update zones set records = records - 1 where name = 'example.com.'`.execute(db);
    expect(await migrate(db, TEST_SETTINGS)).toEqual({
      applied: Object.keys(migrations).filter((name) => name > '0003-rate-limits'),
      changed: [],
      zones: 1,
    });
    expect(await published(db)).toContain('m 0 TYPE0 \\# 0');
    await expectPublished(db, id, plain.id);
    expect(await migrate(db, TEST_SETTINGS)).toEqual({ applied: [], changed: [], zones: 0 });
  });

  test('a setting that differs is told, and operator zones are not made of it', async () => {
    const { db } = database;
    await migrate(db, TEST_SETTINGS);
    await saveZones(db, [smallZone('op.test.', 1)], { source: 'test' });
    const next = { ...TEST_SETTINGS, edgeIpv4: ['192.0.2.2'], soaRname: 'root.example.net' };
    expect(await migrate(db, next)).toEqual({ applied: [], changed: ['EDGE_IPV4', 'SOA_RNAME'], zones: 0 });
    expect(await loadAnswerSettings(db)).toEqual(next);
    expect(await db.selectFrom('changes').select('source').execute()).toEqual([{ source: 'test' }]);
  });
});
