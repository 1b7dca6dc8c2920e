// The schema and the stored settings.

import { Migrator, sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { findAccount } from '../../../src/store/accounts/accounts.ts';
import { addTerm } from '../../../src/store/accounts/plans.ts';
import { listSubscriptions } from '../../../src/store/accounts/subscriptions.ts';
import { moveSubscriptions } from '../../../src/store/change/move-subscriptions.ts';
import { setPlan } from '../../../src/store/change/set-plan.ts';
import { checkSchema, migrate } from '../../../src/store/migrate/migrate.ts';
import { migrations } from '../../../src/store/migrate/migrations.ts';
import { loadAnswerSettings } from '../../../src/store/postgres/answer-settings.ts';
import { type Database, openDatabase } from '../../../src/store/postgres/database.ts';
import { renewExpiredVerification } from '../../../src/store/verifications/renew-verification.ts';
import { saveZones } from '../../../src/store/zones/save-zones.ts';
import { NO_WALLET } from '../../support/billing/no-wallet.ts';
import { createDatabase, TEST_SETTINGS, type TestDatabase } from '../../support/database/database.ts';
import { expectPublished, newAccount, newDomain, published, saved } from '../../support/database/domains.ts';
import { signRecords } from '../../support/dnssec/sign-records.ts';
import { makeKey } from '../../support/dnssec/signing.ts';
import { smallZone } from '../../support/processes/follow.ts';
import { edit } from '../../support/zone/customer-records.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

let database: TestDatabase;

beforeEach(async () => {
  database = await createDatabase({ empty: true });
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
  const [id, plainId] = await inOlderSchema({ db }, '0003-rate-limits', async (today) => {
    const accountId = await newAccount(today, 'a@example.org');
    const { id } = await newDomain(today, accountId);
    const plain = await newDomain(today, accountId, 'plain.test.');
    await saved(today, id, edit({ create: ['m TXT x', 't TXT x'] }));
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
    zones: 2, // the one that waits is published with a mark of its own
  });
  expect(await published(db)).toContain('m 0 TYPE0 \\# 0');
  await expectPublished(db, id, plainId);
  expect(await migrate(db, TEST_SETTINGS)).toMatchObject({ applied: [], changed: [], zones: 0 });
});

test('domains that wait and are answered whole get the mark that says so, those that are proven none', async () => {
  const { db } = database;
  const ids = await inOlderSchema({ db }, '0019-trust-anchors', async (today) => {
    const accountId = await newAccount(today, 'a@example.org');
    const { id } = await newDomain(today, accountId);
    const other = await newDomain(today, accountId, 'plain.test.');
    return [id, other.id];
  });
  await sql`update domains set status = 'active' where name = 'plain.test.'`.execute(db);
  const marked = async () =>
    (
      await sql<{ owner: string; ttl: number }>`select owner, ttl from zone_records where type = 0`.execute(
        db,
      )
    ).rows;
  expect(await marked()).toEqual([]);
  expect(await migrate(db, TEST_SETTINGS)).toMatchObject({
    applied: expect.arrayContaining(['0021-asked-names']),
    zones: 1,
  });
  expect(await marked()).toEqual([{ owner: 'example.com.', ttl: 1 }]);
  await expectPublished(db, ...ids);
  expect(await migrate(db, TEST_SETTINGS)).toMatchObject({ applied: [], zones: 0 });
});

test('the targets of ANAME records from before are looked up, each once however many records have it', async () => {
  const { db } = database;
  await inOlderSchema({ db }, '0007-unserved-zones', async (today) => {
    const { id } = await newDomain(today, await newAccount(today, 'a@example.org'));
    await saved(today, id, edit({ create: Array.from({ length: 300 }, (_, i) => `m${i} TXT x`) }));
  });
  const target = Buffer.from('\x04Edge\x07example\x03net\0', 'latin1');
  await sql`
      update records set type = 'ANAME', destination = 'Edge.example.net', rdata = ${target}, identity = ${target}
      where name like 'm%'`.execute(db);
  await migrate(db, TEST_SETTINGS);
  const targets = await db.selectFrom('aname_targets').select('target').execute();
  expect(targets).toEqual([{ target: 'edge.example.net' }]);
});

test('domains of a database that is older than checks are due, under their parents, and holders are known', async () => {
  const { db } = database;
  await inOlderSchema({ db }, '0007-unserved-zones', async (today) => {
    const accountId = await newAccount(today, 'a@example.org');
    for (const name of ['a', 'b', 'c', 'd', 'e']) await newDomain(today, accountId, `${name}.example.com.`);
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
      select left(d.name, 1) as name, c.parent, c.due_at < now() + interval '11 minutes' as due,
        c.next_at is not distinct from c.due_at as planned, d.leaving_since is not null as leaving,
        v.due_at < now() + interval '11 minutes' and v.due_at = v.next_at as txt
      from domains d join domain_checks c on c.domain_id = d.id left join domain_verifications v on v.domain_id = d.id
      order by 1`.execute(db);
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
  expect(await db.selectFrom('name_holders').select('name').execute()).toEqual([{ name: 'b.example.com.' }]);
});

test('a standing preset delegation leaves its domain the other static sets, and active domains have a right', async () => {
  const { db } = database;
  const settings = {
    ...TEST_SETTINGS,
    nameserverSets: [...TEST_SETTINGS.nameserverSets, ['ns1.example.org', 'ns2.example.org']],
  };
  const ids = await inOlderSchema({ db }, '0015-nameserver-pool', async (today) => {
    await migrate(today, settings);
    const accountId = await newAccount(today, 'a@example.org');
    const made: number[] = [];
    for (const name of ['stands', 'clear', 'active', 'ended'])
      made.push((await newDomain(today, accountId, `${name}.test.`)).id);
    return made;
  });
  const [stands, clear, active, ended] = ids as [number, number, number, number];
  const first = JSON.stringify([['ns1.example.net.', 'ns2.example.net.']]);
  await sql`update domains set preset = 'standing', preset_taken = ${first}::jsonb where id = ${stands}`.execute(
    db,
  );
  await sql`update domains set preset = 'clear' where id = ${clear}`.execute(db);
  await sql`update domains set preset = 'clear', status = 'active',
      delegated_ns = '{ns2.example.net.,ns1.example.net.}' where id = ${active}`.execute(db);
  await sql`update domains set status = 'disabled', disabled_by = 'checker', served = 'none' where id = ${ended}`.execute(
    db,
  );
  await migrate(db, settings);
  const { rows } = await sql<{ id: number }>`
      select id, ns_sets as sets, open, ended_at is not null as ended, claimed_at is not null as claimed
      from domains order by id`.execute(db);
  const row = (id: number, sets: object[] | null, open: boolean, isEnded = false) => ({
    id,
    sets,
    open,
    ended: isEnded,
    claimed: true,
  });
  const left = { names: ['ns1.example.org.', 'ns2.example.org.'], exclusive: false };
  expect(rows).toEqual([
    row(stands, [left], false),
    row(clear, null, true),
    row(active, null, true),
    row(ended, null, expect.any(Boolean) as unknown as boolean, true),
  ]);
  const rights = await db.selectFrom('ns_rights').select(['name', 'names', 'exclusive']).execute();
  expect(rights).toEqual([
    { name: 'active.test.', names: ['ns1.example.net.', 'ns2.example.net.'], exclusive: false },
  ]);
  await sql`alter table domains add column preset text`.execute(db); // it is gone
});

test('what checks and verifications have left in the table of domains is found in their own', async () => {
  const { db } = database;
  const ids = await inOlderSchema({ db }, '0013-roles', async (today) => {
    const accountId = await newAccount(today, 'a@example.org');
    const made: number[] = [];
    for (const name of ['checked', 'proved', 'bare', 'gone'])
      made.push((await newDomain(today, accountId, `${name}.test.`)).id);
    return made;
  });
  const [checked, proved, bare, gone] = ids as [number, number, number, number];
  await sql`
      update domains set check_parent = 'parent.test.', due_at = '2026-01-01Z', next_check_at = '2026-01-02Z',
        ns_check_interval_seconds = 77, check_seq = 5, miss_count = 2, first_miss_at = '2026-01-03Z',
        last_miss_at = '2026-01-04Z', conclusive_at = '2026-01-05Z', conclusive_ours = true, ours_at = '2026-01-06Z',
        current_ns = '{a.test.,b.test.}', last_check_id = 8, last_outcome = 'hash',
        last_manual_ns_check_at = '2026-01-07Z' where id = ${checked}`.execute(db);
  await sql`
      update domains set dns_mode = 'external', status = 'unverified', verification_value = 'svc-verify=x',
        verification_started_at = '2026-01-01Z', verification_expires_at = '2026-01-02Z', verified_at = '2026-01-03Z',
        txt_due_at = '2026-01-04Z', txt_next_at = '2026-01-05Z', txt_attempts = 3, txt_seq = 4 where id = ${proved}`.execute(
    db,
  );
  await sql`update domains set dns_mode = 'external', status = 'unverified' where id = ${bare}`.execute(db);
  await sql`update domains set deleted_at = now(), zone_id = null, served = 'none' where id = ${gone}`.execute(
    db,
  );
  expect(await migrate(db, TEST_SETTINGS)).toMatchObject({
    applied: Object.keys(migrations).filter((name) => name > '0013-roles'),
  });

  const at = (day: number) => new Date(Date.UTC(2026, 0, day));
  const all = await db.selectFrom('domain_checks').selectAll().orderBy('domain_id').execute();
  expect(all.map((row) => [row.domain_id, row.deleted])).toEqual([
    ...ids.slice(0, 3).map((id) => [id, false]),
    [gone, true],
  ]);
  expect(all[0]).toEqual({
    domain_id: checked,
    account_id: expect.any(Number),
    asked_at: null,
    asked_due_at: null,
    deleted: false,
    parent: 'parent.test.',
    due_at: at(1),
    next_at: at(2),
    interval_seconds: 77,
    seq: 5,
    miss_count: 2,
    first_miss_at: at(3),
    last_miss_at: at(4),
    conclusive_at: at(5),
    conclusive_ours: true,
    conclusive_others: false,
    takeover_seen_at: null,
    witness_at: null,
    seen_ns: null,
    ns_changed_at: null,
    given_back: 0,
    given_back_since: null,
    ours_at: at(6),
    current_ns: ['a.test.', 'b.test.'],
    last_run_id: 8,
    last_outcome: 'hash',
    last_manual_at: at(7),
    unknowns: 0,
  });
  const verifications = await db
    .selectFrom('domain_verifications')
    .selectAll()
    .orderBy('domain_id')
    .execute();
  expect(verifications).toEqual([
    {
      domain_id: proved,
      account_id: expect.any(Number),
      value: 'svc-verify=x',
      started_at: at(1),
      expires_at: at(2),
      verified_at: at(3),
      due_at: at(4),
      next_at: at(5),
      attempts: 3,
      seq: 4,
      offered: true,
      takeover_seen_at: null,
    },
    // It never had a value: the one that it has now has expired, and its owner can have it renewed.
    expect.objectContaining({ domain_id: bare, value: expect.stringMatching(/^svc-verify=[0-9a-f]{32}$/) }),
  ]);
  expect(await renewExpiredVerification(db, bare)).toBe(true);
  await sql`update domains set account_id = ${await newAccount(db, 'b@example.org')} where id = ${checked}`.execute(
    db,
  );
  const moved = await sql`
      select from domain_checks c join domains d on d.id = c.domain_id where c.account_id <> d.account_id`.execute(
    db,
  );
  expect(moved.rows).toEqual([]);
  await sql`update domains set account_id = ${await newAccount(db, 'c@example.org')} where id = ${proved}`.execute(
    db,
  );
  const left = await sql`
      select from domain_verifications v join domains d on d.id = v.domain_id where v.account_id <> d.account_id`.execute(
    db,
  );
  expect(left.rows).toEqual([]);
  await sql`delete from domains`.execute(db);
  expect(await db.selectFrom('domain_checks').selectAll().execute()).toEqual([]);
  expect(await db.selectFrom('domain_verifications').selectAll().execute()).toEqual([]);
});

test('subscriptions from before go on: free ones with a term that is renewed, others without an end', async () => {
  const { db } = database;
  const [free, pro] = await inOlderSchema({ db }, '0019-trust-anchors', async (today) => {
    const accountId = await newAccount(today, 'a@example.org');
    const { id } = await newDomain(today, accountId, 'free.test.', { planSlug: 'free' });
    await setPlan(today, { domainId: id, planSlug: 'pro' });
    await setPlan(today, { domainId: id, planSlug: 'free' });
    return [id, (await newDomain(today, accountId, 'pro.test.')).id];
  });
  // as it was left then
  await sql`
      update subscriptions set auto_renew = true, started_at = clock_timestamp() - interval '100 days',
        expires_at = case when status = 'active' then null else expires_at end`.execute(db);
  await migrate(db, TEST_SETTINGS);
  const ofFree = await listSubscriptions(db, free as number);
  expect(ofFree.map(({ plan, status, endedAt }) => [plan.slug, status, endedAt === null])).toEqual([
    ['free', 'active', true],
    ['pro', 'cancelled', false],
    ['free', 'cancelled', false],
  ]);
  const { term, startedAt, expiresAt, autoRenew } = ofFree[0] as (typeof ofFree)[0];
  expect([term, autoRenew]).toEqual([{ id: 1, days: 30, priceRials: 0 }, true]);
  expect((expiresAt as Date).getTime() - startedAt.getTime()).toBe(120 * 86_400_000);
  expect(await listSubscriptions(db, pro as number)).toMatchObject([
    { status: 'active', term: null, expiresAt: null, autoRenew: false },
  ]);
  const at = new Date((expiresAt as Date).getTime() - 86_400_000);
  expect(await moveSubscriptions(db, { at, wallet: NO_WALLET })).toMatchObject({ renewed: 1, ended: 0 });
  // A number that named a term before is never given to another one.
  const added = await addTerm(db, 'pro', { days: 30, priceRials: 5 });
  expect(added?.terms.map(({ id }) => id)).toEqual([3]);
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

test('0030: accounts of before keep their emails, which are compared beyond ASCII now, and count as confirmed', async () => {
  const { db } = database;
  await inOlderSchema({ db }, '0019-trust-anchors', (today) => newAccount(today, 'J\u00fcrgen@Shop.example'));
  await migrate(db, TEST_SETTINGS);
  const account = await findAccount(db, 'JU\u0308RGEN@shop.example');
  expect(account).toMatchObject({
    email: 'J\u00fcrgen@Shop.example',
    isEmailConfirmed: true,
    isReseller: false,
  });
});

test('0049: of zones that were loaded with signatures the first end is known', async () => {
  const { db } = database;
  const apex = parseName('signed.example.');
  const at = Math.floor(Date.now() / 1000);
  const time = { inception: at - 3600, expiration: at + 5 * 86_400 };
  const records = recordsOf('@ SOA ns. host. 1 2 3 4 5\n@ NS ns.else.example.', 'signed.example.');
  const signing = { key: makeKey(13), time, denial: { kind: 'nsec' } } as const;
  const zones = [
    { apex, records: signRecords(apex, records, signing) },
    {
      apex: parseName('plain.example.'),
      records: recordsOf('@ SOA ns. host. 1 2 3 4 5\n@ NS ns.', 'plain.example.'),
    },
  ];
  await inOlderSchema({ db }, '0047-dnssec', async (today) => {
    await saveZones(today, zones, { source: 'test', actor: 'me' });
    await sql`delete from signed_zones`.execute(today);
  });
  await migrate(db, TEST_SETTINGS);
  const { rows } = await sql`
      select zone_name as name, verbatim, extract(epoch from expires_at)::float8 as "endsAt" from signed_zones`.execute(
    db,
  );
  expect(rows).toEqual([{ name: 'signed.example.', verbatim: true, endsAt: time.expiration }]);
});

/** Gives the database the schema of that time, with the rows that `work` leaves in one of today. */
async function inOlderSchema<T>(
  { db }: { readonly db: Database },
  last: string,
  work: (today: Database) => Promise<T>,
): Promise<T> {
  const provider = { getMigrations: async () => migrations };
  const { error } = await new Migrator({ db, provider }).migrateTo(last);
  expect(error).toBeUndefined();
  const today = await createDatabase();
  try {
    const result = await work(today.db);
    await sql`delete from zone_records where type = 0 and ttl = 1`.execute(today.db); // marks that were not known
    await copyRows(today.db, db);
    return result;
  } finally {
    await today.drop();
  }
}

/** Copies what both schemas have: tables, of these the columns, and how far the sequences are. */
async function copyRows(from: Database, to: Database): Promise<void> {
  const known = await columnsOf(from);
  await to.transaction().execute(async (trx) => {
    await sql`set local session_replication_role = replica`.execute(trx); // what refers to what is not in order
    for (const [name, columns] of await columnsOf(to)) {
      const common = columns.filter((column) => known.get(name)?.includes(column));
      // The plans are those of the migrations: what they had to have then, today's do not have.
      if (name.startsWith('kysely_') || name === 'plans' || common.length === 0) continue;
      const { rows } = await sql<{ rows: string }>`
        select coalesce(jsonb_agg(to_jsonb(t)), '[]')::text as rows from ${sql.table(name)} t`.execute(from);
      const list = sql.join(common.map((column) => sql.ref(column)));
      await sql`delete from ${sql.table(name)}`.execute(trx);
      await sql`
        insert into ${sql.table(name)} (${list}) overriding system value
        select ${list} from jsonb_populate_recordset(null::${sql.table(name)}, ${rows[0]?.rows}::jsonb)`.execute(
        trx,
      );
    }
    const { rows: sequences } = await sql<{ name: string; value: number }>`
      select sequencename as name, last_value as value from pg_sequences
      where schemaname = 'public' and last_value is not null`.execute(from);
    for (const { name, value } of sequences)
      await sql`select setval(oid, ${value}) from pg_class where oid = to_regclass(${name})`.execute(trx);
  });
}

async function columnsOf(db: Database): Promise<Map<string, string[]>> {
  const { rows } = await sql<{ name: string; columns: string[] }>`
    select table_name as name, json_agg(column_name) as columns from information_schema.columns
    where table_schema = 'public' group by table_name`.execute(db);
  return new Map(rows.map(({ name, columns }) => [name, columns]));
}
