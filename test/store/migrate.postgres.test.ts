import { readFileSync } from 'node:fs';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test } from 'vitest';
import { parseName } from '../../src/dns/name.ts';
import { migrate } from '../../src/features/migrate.ts';
import { changeStatus } from '../../src/store/change/change-status.ts';
import { restoreDomain } from '../../src/store/change/restore-domain.ts';
import { deleteDomain } from '../../src/store/change/save-domain.ts';
import { updateDomain } from '../../src/store/change/update-domain.ts';
import { accountNameserverSet } from '../../src/store/claims/pool-sets.ts';
import { loadDomainById } from '../../src/store/domains/load-domains.ts';
import {
  type AnswerSettings,
  loadAnswerSettings,
  loadPublishSettings,
  saveAnswerSettings,
} from '../../src/store/postgres/answer-settings.ts';
import { openDatabase } from '../../src/store/postgres/database.ts';
import { waitForDatabase } from '../../src/store/postgres/database-readiness.ts';
import {
  appliedMigrations,
  checkSchema,
  MIGRATION_NAMES,
  SchemaError,
} from '../../src/store/postgres/schema-version.ts';
import { listDomainChanges } from '../../src/store/records/load-changes.ts';
import { KeyBoxes, useKeyBoxes } from '../../src/store/secrets/key-boxes.ts';
import { saveZones } from '../../src/store/zones/save-zones.ts';
import { NO_EDIT } from '../../src/zone/edit/edit.ts';
import {
  createDatabase,
  emptyDatabase,
  TEST_SETTINGS,
  type TestDatabase,
} from '../support/database/database.ts';
import { BY, expectPublished, newAccount, newDomain, published, saved } from '../support/database/domains.ts';
import { generateTables, TABLES_FILE } from '../support/database/generate-tables.ts';
import { enabled, signatureFaults, useSecrets } from '../support/database/signed-zones.ts';
import { followLoaded, smallZone, untilEqual } from '../support/processes/follow.ts';
import { keptDatabase, sharedDatabase } from '../support/tests/shared-database.ts';
import { APEX } from '../support/zone/customer-records.ts';

const { db, query } = sharedDatabase();
const SETS = [...TEST_SETTINGS.nameserverSets, ['ns1.example.org', 'ns2.example.org']];

describe('migrate', () => {
  const UNCHANGED = { applied: [], changed: [], zones: 0 };

  let database: TestDatabase;
  afterEach(() => database.drop());

  test('one of several concurrent processes migrates an empty database, which the others find up to date', async () => {
    database = await createDatabase({ empty: true });
    await expect(checkSchema(database.db)).rejects.toThrow('has no schema yet');
    const others = Array.from({ length: 4 }, () => openDatabase(database.url, { maxConnections: 1 }));
    const results = await Promise.all(others.map((db) => migrate(db, TEST_SETTINGS)));
    await Promise.all(others.map((db) => db.destroy()));
    expect(results.flatMap(({ applied }) => applied)).toEqual(MIGRATION_NAMES);
    expect(results.flatMap(({ changed }) => changed)).toEqual([]);
    expect(await migrate(database.db, TEST_SETTINGS)).toMatchObject(UNCHANGED);
    expect(await loadAnswerSettings(database.db)).toEqual(TEST_SETTINGS);
  });

  test('creates the tables that the generated types describe (`npm run tables`)', async () => {
    database = await createDatabase();
    expect(await generateTables(database.db)).toBe(readFileSync(TABLES_FILE, 'utf8'));
  });

  test('a program accepts a newer schema and refuses an older one', async () => {
    database = await createDatabase();
    const { db } = database;
    await checkSchema(db);
    await sql`insert into kysely_migration (name, timestamp) values ('9999-later', '')`.execute(db);
    await checkSchema(db);
    expect(await migrate(db, TEST_SETTINGS)).toMatchObject({ applied: [] });
    await sql`delete from kysely_migration where name not like '9999%'`.execute(db);
    await expect(checkSchema(db)).rejects.toThrow(
      `older than this program (it lacks ${MIGRATION_NAMES.join(', ')})`,
    );
  });

  test('migrate adopts a database of the last development version, and leaves an older one unchanged', async () => {
    database = await createDatabase();
    const { db } = database;
    const older = ['0001-operator-zones', '0075-record-hosts'];
    await sql`delete from kysely_migration`.execute(db);
    await sql`insert into kysely_migration select unnest(${older}::text[]), ''`.execute(db);
    await expect(migrate(db, TEST_SETTINGS)).rejects.toThrow('its newest migration is 0075-record-hosts');
    expect(await appliedMigrations(db)).toEqual(older);
    await sql`insert into kysely_migration values ('0077-approvals-ahead', '')`.execute(db);
    await sql.raw(WITHOUT_TRANSFERS).execute(db);
    const applied = MIGRATION_NAMES.slice(1);
    expect(await migrate(db, TEST_SETTINGS)).toMatchObject({ ...UNCHANGED, applied });
    expect(await appliedMigrations(db)).toEqual(MIGRATION_NAMES);
  });

  test('migrate stores and reports changed settings, and does not republish operator zones', async () => {
    database = await createDatabase();
    const { db } = database;
    await saveZones(db, [smallZone('op.test.', 1)], { source: 'test' });
    const next = { ...TEST_SETTINGS, edgeIpv4: ['192.0.2.2'], soaRname: 'root.example.net' };
    expect(await migrate(db, next)).toMatchObject({ ...UNCHANGED, changed: ['EDGE_IPV4', 'SOA_RNAME'] });
    expect(await loadAnswerSettings(db)).toEqual(next);
    expect(await db.selectFrom('changes').select('source').execute()).toEqual([{ source: 'test' }]);
  });
});

/** Reverts the steps 0003-transfers to 0009-identities. */
const WITHOUT_TRANSFERS = `
  drop table account_identities, identity_proofs;
  drop function note_catalog_zone, note_catalog_domain, note_catalog_copy, note_catalog_change, compare_catalogs cascade;
  alter table secondaries drop column catalog_id;
  drop table catalogs, catalog_members, catalog_names, catalog_changes;
  drop trigger grants_of_former_owner on domains;
  drop trigger grants_of_deleted_domain on domains;
  drop trigger grants_of_unloaded_zone on zones;
  drop view update_grant_zones;
  drop table dns_updates, update_grants, seen_updates, pdns_metadata;
  drop function end_grants_of_domain, end_grants_of_zone, raise_transfer_config_once;
  drop view zone_peers, secondary_zones;
  drop trigger transfers_of_former_owner on domains;
  drop trigger domains_transfer_config on domains;
  drop trigger domains_forget_copy on domains;
  drop trigger zones_policy_config on zones;
  alter table zones drop column policy_id;
  drop table tsig_keys, peers, transfer_policies, policy_peers, zone_history, zone_differences, secondaries,
    received_notifies, transfer_reports, transfer_config, notify_orders;
  drop function raise_transfer_config, raise_transfer_config_of_domain, end_transfers_of_domain,
    end_copy_of_domain, forget_copy_of_domain, analyze_zone_records`;

describe('wait-for-database', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createDatabase();
  });
  afterAll(() => database?.drop());

  function waiting(signal = new AbortController().signal) {
    const warned: object[] = [];
    return { warned, log: { warn: (fields: object) => void warned.push(fields) }, signal, retryMs: 10 };
  }

  it('continues once the schema exists and its preparation succeeds, and logs failures', async () => {
    const options = waiting();
    const refused = new Error('connect ECONNREFUSED');
    let attempts = 0;
    await waitForDatabase(database.db, options, async () => {
      if (++attempts < 2) throw refused;
    });
    expect(options.warned).toEqual([{ err: refused }]);
    expect(attempts).toBe(2);
  });

  it('ends with a one-line error if Postgres keeps rejecting its password, and retries meanwhile', async () => {
    await sql`create role rejected_role nologin`.execute(database.db);
    const rejected = openDatabase(`${database.url}&user=rejected_role`, { maxConnections: 1 });
    try {
      const patient = waiting();
      let attempts = 0;
      await waitForDatabase(database.db, patient, async () => {
        if (++attempts < 3) await sql`select 1`.execute(rejected);
      });
      expect([attempts, patient.warned.length]).toEqual([3, 1]);
      const started = waitForDatabase(rejected, { ...waiting(), rejectedMs: 0 }, async () => {});
      const message = 'DATABASE_URL: role "rejected_role" is not permitted to log in';
      await expect(started).rejects.toThrow(expect.objectContaining({ name: 'StartFault', message }));
    } finally {
      await rejected.destroy();
      await sql`drop role rejected_role`.execute(database.db);
    }
  });

  it('does not wait for a missing schema, because `migrate` comes first, and stops waiting on abort', async () => {
    const empty = await createDatabase({ empty: true });
    let isPrepared = false;
    const started = waitForDatabase(empty.db, waiting(), async () => {
      isPrepared = true;
    });
    await expect(started).rejects.toThrow(SchemaError);
    expect(isPrepared).toBe(false);
    await empty.drop();
    const stopping = new AbortController();
    const stopped = waitForDatabase(database.db, waiting(stopping.signal), async () => {
      stopping.abort();
      throw new Error('the connection broke');
    });
    await expect(stopped).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }));
  });
});

describe('dropped-names', () => {
  // Settings that remove nameserver names that are in use.
  const WITH_POOL: AnswerSettings = {
    ...TEST_SETTINGS,
    nameserverSets: SETS,
    nameserverPool: [['ns1.a.example.'], ['ns[1-9].b.example.']],
    nameserverAddresses: [['192.0.2.53'], ['198.51.100.53']],
  };
  const WITHOUT_POOL: AnswerSettings = { ...TEST_SETTINGS, nameserverSets: SETS };

  beforeEach(() => migrate(db, WITH_POOL));

  const changedBy = async (settings: AnswerSettings, force = false) =>
    (await migrate(db, settings, { force })).changed;

  test('that are unused are removed without an error', async () => {
    expect(await changedBy({ ...TEST_SETTINGS })).toEqual([
      'NAMESERVER_SETS',
      'NAMESERVER_POOL',
      'NAMESERVER_ADDRESSES',
    ]);
  });

  test('may move to another list, or to a set', async () => {
    await db.transaction().execute((trx) => accountNameserverSet(trx, 17));
    const names = [['ns1.a.example.', 'ns[1-9].b.example.'], ['other.example.']];
    expect(await changedBy({ ...WITH_POOL, nameserverPool: names })).toEqual(['NAMESERVER_POOL']);
  });

  test('of an account’s set are rejected, and removed with force', async () => {
    await db.transaction().execute((trx) => accountNameserverSet(trx, 17));
    await expect(migrate(db, WITHOUT_POOL)).rejects.toThrow(
      /^the settings remove nameserver names that are in use: .*ns1\.a\.example is in the set of account 17 \(2 uses of this kind\)/s,
    );
    expect((await loadPublishSettings(db)).pool?.lists[1]).toHaveLength(9);
    expect(await changedBy(WITHOUT_POOL, true)).toEqual(['NAMESERVER_POOL', 'NAMESERVER_ADDRESSES']);
  });

  test.each(['delegated_ns', 'chosen_ns'])('in %s of a served domain are rejected', async (column) => {
    const { id } = await newDomain(db, await newAccount(db, 'a@example.org'), 'held.example.com.');
    const set = ['ns1.example.org.', 'ns2.example.org.'];
    await query`update domains set ${sql.ref(column)} = ${set}::text[] where id = ${id}`;
    const dropped = { ...WITH_POOL, nameserverSets: SETS.slice(0, 1) };
    await expect(migrate(db, dropped)).rejects.toThrow(
      /ns1\.example\.org is in the .*set .*held\.example\.com/,
    );
    await query`update domains set status = 'disabled', disabled_by = 'checker', served = 'none' where id = ${id}`;
    expect(await changedBy(dropped)).toEqual(['NAMESERVER_SETS']);
  });

  test('a change of the pool republishes no domain', async () => {
    await newDomain(db, await newAccount(db, 'a@example.org'));
    const before = (await loadPublishSettings(db)).generation;
    const wider = [['ns[1-2].a.example.'], ['ns[1-9].b.example.']];
    expect(await migrate(db, { ...WITH_POOL, nameserverPool: wider })).toMatchObject({
      changed: ['NAMESERVER_POOL'],
      zones: 0,
    });
    expect((await loadPublishSettings(db)).generation).toBe(before);
  });
});

describe('republish-domains', () => {
  // A change of a setting that answers depend on republishes only the affected domains, each with one change.
  const { db, url, query } = keptDatabase();
  let mine: number;
  /** example.com has proxied records, plain.test has none, off.test is disabled. */
  let ids: { proxied: number; plain: number; off: number };

  beforeEach(async () => {
    await emptyDatabase({ db }); // with its settings
    await migrate(db, { ...TEST_SETTINGS, nameserverSets: SETS });
    mine = await newAccount(db, 'a@example.org');
    ids = {
      proxied: (await newDomain(db, mine)).id,
      plain: (await newDomain(db, mine, 'plain.test.')).id,
      off: (await newDomain(db, mine, 'off.test.')).id,
    };
    await saved(db, ids.proxied, [
      'www A 198.51.100.1 ; proxied',
      '@ AAAA 2001:db8::7 ; proxied',
      'x TXT x',
      '@ TXT y',
    ]);
    await changeStatus(db, { ...BY, domainId: ids.off, event: 'disable' });
    await saveZones(db, [smallZone('op.test.', 1)], { source: 'test' });
  });

  const change = (settings: Partial<AnswerSettings>) =>
    migrate(db, { ...TEST_SETTINGS, nameserverSets: SETS, ...settings });
  const operations = async (id: number) =>
    (await listDomainChanges(db, id, { limit: 99 })).map(({ operation }) => operation);
  const allPublished = () => expectPublished(db, ...Object.values(ids));

  test('a claim without a usable set publishes the canonical set at its apex', async () => {
    const held = await newDomain(db, mine, 'held.test.', { exempt: false });
    await query`update domains set ns_sets = '[]' where id = ${held.id}`;
    await change({ nameserverSets: [['ns1.example.org', 'ns2.example.org']] });
    expect(await loadDomainById(db, held.id)).toMatchObject({ served: 'apex' });
    expect((await published(db, held.name))?.filter((line) => line.includes(' NS '))).toEqual([
      '@ 86400 NS ns1.example.org.',
      '@ 86400 NS ns2.example.org.',
    ]);
    expect(await operations(held.id)).toEqual(['settings', 'create']);
    await expectPublished(db, held.id);
    await allPublished();
  });

  test('migrate rejects settings without the secret of the signed domains', async () => {
    useSecrets(db);
    await enabled(db, { domainId: ids.plain });
    const stored = await loadAnswerSettings(db);
    const without = openDatabase(url);
    const wrong = openDatabase(url);
    useKeyBoxes(wrong, new KeyBoxes([{ name: 'test', secret: Buffer.alloc(32, 9) }]));
    try {
      const settings = { ...TEST_SETTINGS, nameserverSets: SETS, soaRname: 'other.example.net' };
      await expect(migrate(without, settings)).rejects.toThrow('KEY_SECRETS is not set in this process');
      await expect(migrate(wrong, settings)).rejects.toThrow('KEY_SECRETS: "test" is not the secret');
      expect(await loadAnswerSettings(db)).toEqual(stored);
      await allPublished();
      expect(await migrate(without, { ...TEST_SETTINGS, nameserverSets: SETS })).toMatchObject({ zones: 0 });
      expect(await migrate(db, settings)).toMatchObject({ changed: ['SOA_RNAME'], zones: 2 });
    } finally {
      await Promise.all([without.destroy(), wrong.destroy()]);
    }
    await allPublished();
    expect(await signatureFaults(db, parseName('plain.test.'))).toEqual([]);
  });

  test('a change of the edge addresses republishes only proxied records, with markers while there is no edge', async () => {
    const node = await followLoaded({ databaseUrl: url });
    const www = () => node.zones.get(APEX)?.nodes.get(parseName('www.example.com.'))?.sets.size;
    const edgeIpv4 = ['192.0.2.50', '192.0.2.51'];
    const shown = async () => (await published(db))?.filter((line) => !/ (SOA|NS|TXT) /.test(line));
    const expectZone = async (lines: string[], sets: number, records: number) => {
      expect(await shown()).toEqual(lines);
      await allPublished();
      await untilEqual(node, db);
      expect(www()).toBe(sets);
      const zone = db.selectFrom('zones').select('records').where('name', '=', 'example.com.');
      expect(await zone.execute()).toEqual([{ records }]);
    };
    expect(await change({ edgeIpv4, edgeIpv6: [] })).toMatchObject({
      applied: [],
      changed: ['EDGE_IPV4', 'EDGE_IPV6'],
      zones: 1,
    });
    const addresses = (owner: string) => edgeIpv4.map((address) => `${owner} 300 A ${address}`);
    await expectZone([...addresses('@'), ...addresses('www')], 1, 9);
    expect(await operations(ids.proxied)).toEqual(['settings', 'edit', 'create']);
    expect(await operations(ids.plain)).toEqual(['create']);
    const [settings] = await listDomainChanges(db, ids.proxied, { limit: 1 });
    expect(settings).toMatchObject({ source: 'migrate', ops: [], actor: { kind: 'system' } });
    expect(await change({ edgeIpv4, edgeIpv6: [] })).toMatchObject({ changed: [], zones: 0 });
    expect(await change({ edgeIpv4: [...edgeIpv4].reverse(), edgeIpv6: [] })).toMatchObject({ zones: 0 });
    expect(await change({ edgeIpv4: [], edgeIpv6: [] })).toMatchObject({ zones: 1 });
    await expectZone(['www 0 TYPE0 \\# 0'], 0, 5);
    expect(await change({})).toMatchObject({ zones: 1 });
    const both = (owner: string) => [`${owner} 300 A 192.0.2.1`, `${owner} 300 AAAA 2001:db8::1`];
    await expectZone([...both('@'), ...both('www')], 2, 9);
    await node.stop();
  });

  test('a change of a nameserver set republishes its domains, and a change of the mailbox all served domains', async () => {
    const nameservers = ['ns1.example.org.', 'ns2.example.org.'].map((text) => parseName(text));
    await updateDomain(db, { ...BY, domainId: ids.plain, set: { nameservers } });
    const sets = [['ns8.example.net', 'ns9.example.net'], SETS[1] as string[]];
    expect(await change({ nameserverSets: sets })).toMatchObject({ zones: 1 });
    expect((await published(db))?.filter((line) => line.includes('NS'))).toEqual([
      '@ 86400 NS ns8.example.net.',
      '@ 86400 NS ns9.example.net.',
    ]);
    expect(await operations(ids.plain)).toEqual(['nameservers', 'create']);
    await allPublished();
    expect(await change({ nameserverSets: sets, soaRname: 'root.example.net' })).toMatchObject({ zones: 2 });
    await allPublished();
    expect(await operations(ids.off)).toEqual(['status', 'create']);
    await changeStatus(db, { ...BY, domainId: ids.off, event: 'enable' });
    await allPublished();
  });

  test('settings that the environment lacks keep their stored values', async () => {
    const stored = await loadAnswerSettings(db);
    const given = { ...TEST_SETTINGS, nameserverSets: [['ns1.other.net']], edgeIpv4: ['192.0.2.77'] };
    const unset = ['nameserverSets', 'nameserverPool', 'nameserverAddresses', 'soaRname'] as const;
    expect(await migrate(db, { ...given, unset })).toMatchObject({ changed: ['EDGE_IPV4'] });
    expect(await loadAnswerSettings(db)).toEqual({ ...stored, edgeIpv4: ['192.0.2.77'] });
  });

  test('the next migration, or an edit, completes one that was killed after it stored the settings', async () => {
    const next = {
      ...TEST_SETTINGS,
      nameserverSets: SETS,
      edgeIpv4: ['192.0.2.50'],
      soaRname: 'root.example.net',
    };
    expect(await db.transaction().execute((trx) => saveAnswerSettings(trx, next))).toEqual([
      'EDGE_IPV4',
      'SOA_RNAME',
    ]);
    await deleteDomain(db, { ...BY, domainId: ids.plain });
    await saved(db, ids.proxied, ['z TXT z']);
    await expectPublished(db, ids.proxied);
    expect(await migrate(db, next)).toMatchObject({ applied: [], changed: [], zones: 0 });
    await restoreDomain(db, { ...BY, domainId: ids.plain });
    await allPublished();
    const pending = await sql<{
      value: unknown;
    }>`select value from settings where name = 'ANSWER_GENERATIONS'`.execute(db);
    expect(pending.rows).toEqual([{ value: { edges: 3, apex: 3, published: 3 } }]);
  });

  test('domains that are edited or created during a migration are published with the new settings', async () => {
    const create = (host: string) => ({
      ...NO_EDIT,
      creates: [
        { name: parseName(host), type: 'A' as const, rdata: Buffer.from([1, 2, 3, 4]), proxied: true },
      ],
    });
    const more: number[] = [];
    for (let i = 0; i < 4; i++) {
      more.push((await newDomain(db, mine, `d${i}.test.`)).id);
      await saved(db, more[i] as number, create(`www.d${i}.test.`));
    }
    let running = true;
    const editing = Array.from({ length: 2 }, async (_, writer) => {
      for (let i = writer; running; i += 2) {
        await saved(db, more[i % 4] as number, create(`n${i}.d${i % 4}.test.`));
        if (i % 20 === writer) more.push((await newDomain(db, mine, `new${i}.test.`)).id);
      }
    });
    for (let i = 0; i < 2; i++)
      await change({ edgeIpv4: [`192.0.2.${50 + i}`], soaRname: `root${i}.example.net` });
    running = false;
    await Promise.all(editing);
    await expectPublished(db, ...more);
    await allPublished();
  });
});
