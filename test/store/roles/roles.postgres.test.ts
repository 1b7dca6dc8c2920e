// The privileges of the database roles, and what they must not allow.

import { mkdtempSync, rmSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PRIVILEGES_OF_FEATURES } from '../../../src/features/every-feature.ts';
import { migrate } from '../../../src/features/migrate.ts';
import { type RunningPostgres, startPostgres } from '../../../src/start/postgres/postgres.ts';
import {
  claimNodeName,
  type NodeReport,
  saveNodeReport,
  signOffNode,
} from '../../../src/store/feed/nodes.ts';
import { connect } from '../../../src/store/postgres/connection.ts';
import { openDatabase } from '../../../src/store/postgres/database.ts';
import {
  CORE_PRIVILEGES,
  PROCESS_ROLES,
  type ProcessRole,
  unite,
} from '../../../src/store/roles/role-privileges.ts';
import { rolesSql, setRolePasswords } from '../../../src/store/roles/roles.ts';
import { asRole, databaseUrl, TEST_SETTINGS } from '../../support/database/database.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';

const DENIED = /permission denied|must be owner|row-level security/;
const INSTANCE = '11111111-1111-4111-8111-111111111111';
const report = (name: string): NodeReport => ({
  ...{ name, instance: INSTANCE, startedAt: new Date(), loaded: true, epoch: 'e', position: 1 },
  ...{ snapshot: '1:1:', zones: 1, records: 1, held: undefined, unserved: [], abilities: [] },
  ...{ image: { used: 0, capacity: 1 }, version: '1.2.3', traffic: { answered: 0, dropped: 0 } },
});

async function ask(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

const TABLES = unite([CORE_PRIVILEGES, ...PRIVILEGES_OF_FEATURES]).tables;
const { url } = keptDatabase();
const as = (role: ProcessRole, statement: string) => ask(asRole(url, role), statement);

const RELATIONS = `select tablename from pg_tables where schemaname = 'public'
  union all select viewname from pg_views where schemaname = 'public'`;

it('the list of privileges contains every table', async () => {
  const tables = (await ask(url, `${RELATIONS} order by 1`)).map(({ tablename }) => tablename);
  expect(tables).toEqual(Object.keys(TABLES).sort());
});

it('roles have exactly the listed privileges, and no process role owns or creates anything', async () => {
  const rows = await ask(
    url,
    `select t.tablename as table, r.rolname as role,
         string_agg(p.letter, '' order by p.place) filter (where has_table_privilege(r.rolname, t.tablename, p.name)) as has
       from (${RELATIONS}) t, pg_roles r, (values ('s', 'select', 1), ('i', 'insert', 2), ('u', 'update', 3), ('d', 'delete', 4),
         ('T', 'truncate', 5), ('R', 'references', 6), ('G', 'trigger', 7)) p(letter, name, place)
       where r.rolname in ('zonefleet_node', 'zonefleet_api', 'zonefleet_worker')
       group by 1, 2`,
  );
  const has = Object.fromEntries(rows.map(({ table, role, has }) => [`${table} ${role}`, has ?? '']));
  const wanted = Object.entries(TABLES).flatMap(([table, { node, api, worker }]) => [
    [`${table} zonefleet_node`, node],
    [`${table} zonefleet_api`, api],
    [`${table} zonefleet_worker`, worker],
  ]);
  expect(has).toEqual(Object.fromEntries(wanted));
  const powers = await ask(
    url,
    `select rolname from pg_roles where rolname like 'zonefleet\\_%'
         and (rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls)`,
  );
  expect(powers).toEqual([]);
  for (const role of PROCESS_ROLES) {
    await expect(as(role, 'create table mine (id integer)')).rejects.toThrow(DENIED);
    await expect(as(role, 'create schema mine')).rejects.toThrow(DENIED);
  }
});

it.each([
  ['zonefleet_api', 'drop table domains'],
  ['zonefleet_api', 'truncate records'],
  ['zonefleet_api', 'alter table accounts disable row level security'],
  ['zonefleet_api', 'select * from resolver_leases'],
  ['zonefleet_api', 'update settings set value = value'],
  ['zonefleet_api', 'set role zonefleet_owner'],
  ['zonefleet_api', "copy zones to program 'id'"],
  ['zonefleet_api', "select pg_read_file('/etc/passwd')"],
  ['zonefleet_api', 'alter role zonefleet_api superuser'],
  ['zonefleet_api', 'update vantages set public_key = public_key'],
  ['zonefleet_api', 'update vantages set network = name, given_address = null'],
  ['zonefleet_api', 'update breaker_trips set tripped_at = tripped_at'],
  ['zonefleet_worker', 'select hash from api_keys'],
  ['zonefleet_worker', 'select email from accounts'],
  ['zonefleet_api', "select order_takeover_mails(1, 'x')"],
  ['zonefleet_node', "select order_takeover_mails(1, 'x')"],
  ['zonefleet_node', 'select analyze_zone_records(1)'],
  ['zonefleet_api', "select order_dnssec_reminder(1, 'x')"],
  ['zonefleet_worker', 'select * from dnssec_reminders'],
  ['zonefleet_worker', 'insert into domains (name) values (null)'],
  ['zonefleet_node', 'select * from api_keys'],
  ['zonefleet_node', 'select * from domains'],
  ['zonefleet_node', 'update zones set name = name'],
  ['zonefleet_node', 'delete from zone_records'],
  ['zonefleet_node', 'update nodes set confirmed_id = held_id'],
  ['zonefleet_node', 'delete from nodes'],
  ['zonefleet_node', 'select from audit_log'],
  ['zonefleet_node', 'select from signing_keys'],
  ['zonefleet_node', 'select from key_boxes'],
  ['zonefleet_node', 'select from signed_zones'],
  ['zonefleet_api', 'delete from audit_log'],
  ['zonefleet_api', 'update audit_log set action = action'],
  ['zonefleet_worker', 'update audit_log set action = action'],
  ['zonefleet_node', 'insert into asked_names (slot, zone_id, asked_at) values (1, 1, now())'],
  ['zonefleet_node', 'update asked_names set zone_id = 1'],
  ['zonefleet_node', 'delete from asked_names'],
  ['zonefleet_node', 'select counts from dns_counts'],
  ['zonefleet_node', 'update dns_counts set part = 2'],
  ['zonefleet_node', 'delete from dns_counts'],
  ['zonefleet_node', 'insert into dns_counts (part, moved_at) values (0, now())'],
  ['zonefleet_node', 'insert into dns_counts (part) values (0) returning instance'],
] as const)('%s may not: %s', async (role, statement) => {
  await expect(as(role, statement)).rejects.toThrow(
    /permission denied|must be owner|must be superuser|only roles with/i,
  );
});

it('a node can write and sign off only its own row', async () => {
  const nodeUrl = asRole(url, 'zonefleet_node');
  const [one, two] = [
    await connect(nodeUrl, { applicationName: 'one' }),
    await connect(nodeUrl, { applicationName: 'two' }),
  ];
  try {
    expect(await claimNodeName(one, { name: 'one', instance: INSTANCE })).toBe('claimed');
    expect(await claimNodeName(two, { name: 'two', instance: INSTANCE })).toBe('claimed');
    await saveNodeReport(one, report('one'));
    await saveNodeReport(two, report('two'));
    await saveNodeReport(one, report('one'));
    await expect(saveNodeReport(two, report('one'))).rejects.toThrow(DENIED);
    await expect(saveNodeReport(two, report('three'))).rejects.toThrow(DENIED);
    expect(await two.query("update nodes set zones = 9 where name = 'one' returning name")).toEqual([]);
    // A caller's own table that hides the system's does not help.
    await two.query('create temp table pg_locks as select * from pg_catalog.pg_locks');
    await two.query("update pg_locks set pid = pg_backend_pid() where locktype = 'advisory'");
    await two.query('set search_path = pg_temp, public');
    expect(await two.query("update nodes set zones = 9 where name = 'one' returning name")).toEqual([]);
    await signOffNode(one, 'one', INSTANCE);
    expect(await one.query("select left_at is not null from nodes where name = 'one'")).toEqual([[true]]);
  } finally {
    await one.close();
    await two.close();
  }
});

describe('an external server', () => {
  let directory: string;
  let server: RunningPostgres;
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'zf-roles-'));
    await chmod(directory, 0o711);
    server = await startPostgres({ directory, parameters: { fsync: 'off' } });
    for (const statement of [
      'create role plain login',
      'create role maker login createrole',
      'create database plain owner plain',
      ...[1, 2].map((n) => `create database made${n} owner maker`),
    ])
      await ask(server.url, statement);
  });
  afterAll(async () => {
    await server?.stop();
    rmSync(directory, { recursive: true, force: true });
  });
  const urlOf = (name: string, role: string) => asRole(databaseUrl(server, name), role);
  const migrated = async (url: string) => {
    const db = openDatabase(url);
    try {
      return await migrate(db, TEST_SETTINGS);
    } finally {
      await db.destroy();
    }
  };

  it('is migrated without roles if they may not be created, and gets their privileges once they exist', async () => {
    expect((await migrated(urlOf('plain', 'plain'))).roles).toEqual({
      made: [],
      missing: [...PROCESS_ROLES],
      overpowered: [],
    });
    await ask(server.url, rolesSql());
    await ask(server.url, rolesSql());
    expect((await migrated(urlOf('plain', 'plain'))).roles.missing).toEqual([]);
    expect(await ask(urlOf('plain', 'zonefleet_api'), 'select count(*)::int as n from domains')).toEqual([
      { n: 0 },
    ]);
    await expect(ask(urlOf('plain', 'zonefleet_api'), 'drop table domains')).rejects.toThrow(DENIED);
    for (const role of PROCESS_ROLES) {
      await ask(databaseUrl(server, 'plain'), `drop owned by ${role}`);
      await ask(server.url, `drop role ${role}`);
    }
  });

  it('gets its roles once when many databases are migrated concurrently, and reports one with too many rights', async () => {
    const all = await Promise.all([1, 2].map((n) => migrated(urlOf(`made${n}`, 'maker'))));
    expect(all.flatMap(({ roles }) => roles.missing)).toEqual([]);
    for (const n of [1, 2])
      for (const role of PROCESS_ROLES)
        expect(await ask(urlOf(`made${n}`, role), 'select id from zones')).toEqual([]);
    expect((await migrated(urlOf('made1', 'maker'))).roles.made).toEqual([]);
    await ask(server.url, 'alter role zonefleet_api superuser');
    expect((await migrated(urlOf('made1', 'maker'))).roles.overpowered).toEqual(['zonefleet_api']);
    await ask(server.url, 'alter role zonefleet_api nosuperuser');
  });

  it('never sees a password, only its verifier', async () => {
    const db = openDatabase(urlOf('made1', 'maker'));
    try {
      await setRolePasswords(db, { zonefleet_node: 'correct-horse' });
    } finally {
      await db.destroy();
    }
    const super_ = openDatabase(server.url);
    const { rows } = await sql<{ p: string }>`
      select rolpassword as p from pg_authid where rolname = 'zonefleet_node'`.execute(super_);
    await super_.destroy();
    expect(rows[0]?.p).toMatch(/^SCRAM-SHA-256\$4096:/);
  });
});
