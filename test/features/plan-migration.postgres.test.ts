import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { planMigration } from '../../src/features/plan-migration.ts';
import { MIGRATION_NAMES } from '../../src/store/postgres/schema-version.ts';
import { createDatabase, TEST_SETTINGS } from '../support/database/database.ts';
import { newAccount, newDomain } from '../support/database/domains.ts';
import { sharedDatabase } from '../support/tests/shared-database.ts';

const { db } = sharedDatabase();
const plan = (settings = TEST_SETTINGS, options = {}) => planMigration(db, settings, options);

it('is empty if the schema and the stored settings are up to date', async () => {
  expect(await plan()).toEqual({
    schema: MIGRATION_NAMES.at(-1),
    isNewer: false,
    steps: [],
    changed: [],
    republish: { domains: 0, signed: 0, seconds: 0 },
    seconds: 0,
  });
});

it('has no schema for an empty database, and no steps, because the schema contains them', async () => {
  const empty = await createDatabase({ empty: true });
  try {
    expect(await planMigration(empty.db, TEST_SETTINGS)).toMatchObject({ schema: undefined, steps: [] });
  } finally {
    await empty.drop();
  }
});

it('lists the missing steps with the tables that they use and their numbers of rows', async () => {
  await sql`delete from kysely_migration where name >= '0003'`.execute(db);
  await sql`update pg_class set reltuples = 1000000 where oid = 'zones'::regclass`.execute(db);
  const { schema, steps, seconds } = await plan();
  expect(schema).toBe('0002-handing-over');
  expect(steps.map(({ name }) => name)).toEqual(MIGRATION_NAMES.slice(2));
  const [transfers] = steps;
  expect(transfers).toMatchObject({ about: expect.stringMatching(/^Zone transfers: /), seconds: 5.2 });
  expect(transfers?.creates).toContain('tsig_keys');
  expect(transfers?.uses).toContainEqual({
    table: 'zones',
    lock: 'all',
    work: 'index',
    rows: 1_000_000,
    bytes: expect.any(Number),
    seconds: 5,
  });
  expect(seconds).toBeGreaterThan(5.2);
});

it('estimates the rows of a table that Postgres has not analyzed', async () => {
  await sql`delete from kysely_migration where name >= '0003'`.execute(db);
  await newAccount(db, 'owner@example.org');
  await sql`update pg_class set reltuples = -1 where oid = 'accounts'::regclass`.execute(db);
  const { steps } = await plan();
  const rows = steps.flatMap(({ uses }) => uses).find(({ table }) => table === 'accounts')?.rows;
  expect(rows).toBeGreaterThan(0);
});

it('says that a newer version has migrated the schema', async () => {
  await sql`insert into kysely_migration (name, timestamp) values ('9999-later', '')`.execute(db);
  expect(await plan()).toMatchObject({ schema: '9999-later', isNewer: true, steps: [] });
});

it('names changed settings and counts the domains to republish, without storing or publishing anything', async () => {
  await newDomain(db, await newAccount(db, 'owner@example.org'), 'a.example.');
  const next = { ...TEST_SETTINGS, soaRname: 'root.example.net' };
  const changed = [{ setting: 'SOA_RNAME', from: TEST_SETTINGS.soaRname, to: 'root.example.net' }];
  const expected = { changed, republish: { domains: 1, signed: 0, seconds: 1 / 200 } };
  expect(await plan(next)).toMatchObject(expected);
  expect(await plan(next)).toMatchObject(expected);
  expect(await plan({ ...TEST_SETTINGS, edgeIpv4: ['192.0.2.9'] })).toMatchObject({
    changed: [{ setting: 'EDGE_IPV4', from: TEST_SETTINGS.edgeIpv4.join(), to: '192.0.2.9' }],
    republish: { domains: 1 },
  });
});

it('fails as `migrate` would if a setting drops a nameserver name in use, unless it is forced', async () => {
  await newDomain(db, await newAccount(db, 'owner@example.org'), 'b.example.');
  await sql`update domains set delegated_ns = '{ns1.example.net.}'`.execute(db);
  const next = { ...TEST_SETTINGS, nameserverSets: [['ns1.example.org', 'ns2.example.org']] };
  await expect(plan(next)).rejects.toThrow('ns1.example.net is in the set of');
  expect(await plan(next, { force: true })).toMatchObject({
    changed: [{ setting: 'NAMESERVER_SETS', to: 'ns1.example.org,ns2.example.org' }],
  });
});
