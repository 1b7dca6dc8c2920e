// The schema and the stored settings.

import { type Migration, Migrator, sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkSchema, migrate } from '../../../src/store/migrate/migrate.ts';
import { migrations } from '../../../src/store/migrate/migrations.ts';
import { loadAnswerSettings, saveAnswerSettings } from '../../../src/store/postgres/answer-settings.ts';
import { type Database, openDatabase } from '../../../src/store/postgres/database.ts';
import { saveZones } from '../../../src/store/zones/save-zones.ts';
import {
  createDatabase,
  TEST_SETTINGS,
  type TestDatabase,
  testServers,
} from '../../support/database/database.ts';
import { expectPublished, newAccount, newDomain, published, saved } from '../../support/database/domains.ts';
import { smallZone } from '../../support/processes/follow.ts';
import { edit } from '../../support/zone/customer-records.ts';

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
    expect(await migrate(database.db, TEST_SETTINGS)).toMatchObject({ applied: [], changed: [], zones: 0 });
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
    const [id, plainId] = await inOlderSchema(db, '0003-rate-limits', async () => {
      const accountId = await newAccount(db, 'a@example.org');
      const { id } = await newDomain(db, accountId);
      const plain = await newDomain(db, accountId, 'plain.test.');
      await saved(db, id, edit({ create: ['m TXT x', 't TXT x'] }));
      return [id, plain.id] as const;
    });
    // as it was left then: the record is there, and nothing is published
    await sql`update records set type = 'ANAME', rdata = '\\x00', identity = '\\x00' where name like 'm.%'`.execute(
      db,
    );
    await sql`delete from zone_records where owner like 'm.%'`.execute(db);
    await sql`update zones set records = records - 1 where name = 'example.com.'`.execute(db);
    expect(await migrate(db, TEST_SETTINGS)).toMatchObject({
      applied: Object.keys(migrations).filter((name) => name > '0003-rate-limits'),
      changed: [],
      zones: 1,
    });
    expect(await published(db)).toContain('m 0 TYPE0 \\# 0');
    await expectPublished(db, id, plainId);
    expect(await migrate(db, TEST_SETTINGS)).toMatchObject({ applied: [], changed: [], zones: 0 });
  });

  test('the targets of ANAME records from before are looked up, each once however many records have it', async () => {
    const { db } = database;
    await inOlderSchema(db, '0007-unserved-zones', async () => {
      const { id } = await newDomain(db, await newAccount(db, 'a@example.org'));
      await saved(db, id, edit({ create: Array.from({ length: 300 }, (_, i) => `m${i} TXT x`) }));
    });
    await sql`update records set type = 'ANAME', destination = 'Edge.example.net' where name like 'm%'`.execute(
      db,
    );
    await migrate(db, TEST_SETTINGS);
    const targets = await db.selectFrom('aname_targets').select('target').execute();
    expect(targets).toEqual([{ target: 'edge.example.net' }]);
  });

  test('domains of a database that is older than checks are due, under their parents, and holders are known', async () => {
    const { db } = database;
    await inOlderSchema(db, '0007-unserved-zones', async () => {
      const accountId = await newAccount(db, 'a@example.org');
      for (const name of ['a', 'b', 'c', 'd', 'e']) await newDomain(db, accountId, `${name}.example.com.`);
    });
    await sql`update domains set next_check_at = null`.execute(db);
    await sql`update domains set status = 'active' where name like 'b.%'`.execute(db);
    await sql`update domains set dns_mode = 'external', status = 'unverified', leaving = true where name like 'c.%'`.execute(
      db,
    );
    await sql`update domains set dns_mode = 'external', status = 'unverified' where name like 'd.%'`.execute(
      db,
    );
    await sql`update domains set status = 'banned', served = 'none' where name like 'e.%'`.execute(db);
    await migrate(db, TEST_SETTINGS);
    const { rows } = await sql`
      select left(name, 1) as name, check_parent as parent, due_at < now() + interval '11 minutes' as due,
        next_check_at is not distinct from due_at as planned, leaving_since is not null as leaving,
        txt_due_at < now() + interval '11 minutes' and txt_due_at = txt_next_at as txt
      from domains order by name`.execute(db);
    const of = (name: string, due: true | null, planned: boolean, leaving = false) => ({
      ...{ name, parent: 'example.com.', due, planned, leaving, txt: 'cd'.includes(name) || null },
    });
    expect(rows).toEqual([
      of('a', true, true),
      of('b', true, true),
      of('c', true, false, true),
      of('d', null, true),
      of('e', null, true),
    ]);
    expect(await db.selectFrom('name_holders').select('name').execute()).toEqual([
      { name: 'b.example.com.' },
    ]);
  });

  test('a setting that differs is told, and operator zones are not made of it', async () => {
    const { db } = database;
    await migrate(db, TEST_SETTINGS);
    await saveZones(db, [smallZone('op.test.', 1)], { source: 'test' });
    const next = { ...TEST_SETTINGS, edgeIpv4: ['192.0.2.2'], soaRname: 'root.example.net' };
    expect(await migrate(db, next)).toMatchObject({
      applied: [],
      changed: ['EDGE_IPV4', 'SOA_RNAME'],
      zones: 0,
    });
    expect(await loadAnswerSettings(db)).toEqual(next);
    expect(await db.selectFrom('changes').select('source').execute()).toEqual([{ source: 'test' }]);
  });
});

const NEEDED = ['0008-checks', '0009-txt-scans-aname', '0011-max-domains'];

/** Today's writers need what `NEEDED` adds: they have it while they work, and it is taken away behind them. */
async function inOlderSchema<T>(db: Database, last: string, work: () => Promise<T>): Promise<T> {
  const provider = { getMigrations: async () => migrations };
  const { error } = await new Migrator({ db, provider }).migrateTo(last);
  expect(error).toBeUndefined();
  await db.transaction().execute((trx) => saveAnswerSettings(trx, TEST_SETTINGS));
  const before = await columnsOf(db);
  const indexesBefore = await indexesOf(db);
  for (const name of NEEDED) await (migrations[name] as Migration).up(db);
  const result = await work();
  const added = [...(await columnsOf(db))].filter(([table]) => !before.has(table)).map(([table]) => table);
  for (const table of added) await sql`drop table ${sql.table(table)}`.execute(db);
  for (const [table, columns] of await columnsOf(db)) {
    for (const column of columns) {
      if (before.get(table)?.includes(column)) continue;
      await sql`alter table ${sql.table(table)} drop column ${sql.ref(column)}`.execute(db);
    }
  }
  const indexes = (await indexesOf(db)).filter((name) => !indexesBefore.includes(name));
  for (const name of indexes) await sql`drop index ${sql.id(name)}`.execute(db);
  return result;
}

async function columnsOf(db: Database): Promise<Map<string, string[]>> {
  const { rows } = await sql<{ name: string; columns: string[] }>`
    select table_name as name, json_agg(column_name) as columns from information_schema.columns
    where table_schema = 'public' group by table_name`.execute(db);
  return new Map(rows.map(({ name, columns }) => [name, columns]));
}

async function indexesOf(db: Database): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select indexname as name from pg_indexes where schemaname = 'public'`.execute(db);
  return rows.map(({ name }) => name);
}
