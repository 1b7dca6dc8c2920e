// Consumed catalogs, with a producer in memory. consume.nightly.test.ts has real producers.

import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { addCatalogCommands } from '../../../src/features/catalogs/cli.ts';
import { CatalogConsumer } from '../../../src/features/catalogs/job-consume.ts';
import {
  confirmVersion,
  consumeCatalog,
  loadConsumers,
  removeConsumer,
} from '../../../src/features/catalogs/sql-consumers.ts';
import { createRefresher } from '../../../src/features/secondaries/job-refresh.ts';
import { TransferTurns } from '../../../src/features/secondaries/rules.ts';
import { addSecondary, removeSecondary } from '../../../src/features/secondaries/sql-manage.ts';
import { createDomain } from '../../../src/store/change/save-domain.ts';
import { type Database, openDatabase } from '../../../src/store/postgres/database.ts';
import { inTransaction } from '../../../src/store/postgres/transaction.ts';
import { setPolicy } from '../../../src/store/transfers/policies.ts';
import { loadHeldZone, loadZone } from '../../../src/store/zones/load-zones.ts';
import { saveZones, unloadZones } from '../../../src/store/zones/save-zones.ts';
import { isPrivateMark } from '../../../src/zone/zone.ts';
import { runCommands } from '../../support/cli/run-commands.ts';
import { asRole } from '../../support/database/database.ts';
import { newAccount, newDomain, wantedDomain } from '../../support/database/domains.ts';
import { Primary } from '../../support/peers/memory-primary.ts';
import { rowsOf } from '../../support/tests/rows-of.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { until } from '../../support/tests/until.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const { db, url, query, column, value } = sharedDatabase();
let worker: Database;
beforeAll(() => {
  worker = openDatabase(asRole(url, 'zonefleet_worker'));
  return () => worker.destroy();
});

const CATALOG = 'catz.example.';
const APEX = parseName(CATALOG);
let producer: Primary;
let serial: number;
let nowMs: number;
let consumer: CatalogConsumer;

/** Publishes a version with these members, `LABEL NAME`, and transfers it. */
async function publish(members: readonly string[], { version = 'version 0 TXT "2"', more = '' } = {}) {
  producer.publish(++serial, [version, ...linesOf(members), more].join('\n'));
  await transfer(CATALOG, producer);
}

const linesOf = (members: readonly string[]) =>
  members.map((member) => {
    const [label, name] = member.split(' ');
    return `${label}.zones 0 PTR ${name}`;
  });

/** Consumes another catalog of the same peer. */
async function consumeOther(...members: readonly string[]) {
  const name = 'new.example.';
  await consumeCatalog(db, { name, from: ['hidden'], policies: {}, maxMembers: undefined });
  const other = new Primary(name);
  other.publish(1, ['version 0 TXT "2"', ...linesOf(members)].join('\n'));
  await transfer(name, other);
}

async function transfer(zone: string, client: Primary) {
  const id = await value<number>`select id from secondaries where zone_name = ${zone}`;
  await query`update secondaries set due_at = now() where id = ${id!}`;
  const refresh = createRefresher({
    ...{ db: worker, client, turns: new TransferTurns({ octets: 2 ** 28 }), tsigSecrets: [], allowed: [] },
    ...{ source: undefined, maxRecords: 10_000 },
  });
  return await refresh(id!, new AbortController().signal);
}

/** Runs rounds until nothing is left. Returns the number of rounds. */
async function consume(of = consumer): Promise<number> {
  await query`update catalogs set next_at = now(), retry_at = case when retry_at is not null then now() end`;
  for (let rounds = 0; ; rounds++, nowMs += 1000) {
    if (!(await of.round()).isMore) return rounds;
    if (rounds > 100) throw new Error('the rounds do not end');
  }
}

const isLockWaited = async () =>
  (await value<number>`
    select count(*)::integer from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)! >
  0;

const copied = () => column<string>`
  select zone_name from secondaries where catalog_id is not null and zone_name not like 'n%.bulk.example.' order by 1`;
const state = async () => (await loadConsumers(db))[0]?.state;
const finding = async () => (await loadConsumers(db))[0]?.findings[0];
const bulk = (count: number) => Array.from({ length: count }, (_, i) => `b${i} n${i}.bulk.example.`);

beforeEach(async () => {
  producer = new Primary(CATALOG);
  serial = 0;
  nowMs = 0;
  consumer = new CatalogConsumer({ db: worker, log: { info() {}, warn() {} }, now: () => nowMs });
  await query`insert into peers (name, addresses) values ('hidden', '{192.0.2.1}'), ('other', '{192.0.2.2}')`;
  const added = await consumeCatalog(db, { name: CATALOG, from: ['hidden'], policies: {}, maxMembers: 300 });
  expect(added).toEqual({ kind: 'added' });
});

const run = (command: string) =>
  runCommands((program, cli) => addCatalogCommands(program, cli), command.split(' '), url);

test('commands list consumed catalogs, confirm versions and refuse what cannot be consumed', async () => {
  await query`insert into peers (name, networks) values ('mute', '{192.0.2.0/24}')`;
  await saveZones(db, [zone('zone.com.')], { source: 'cli' });
  await newDomain(db, await newAccount(db, 'ann@shop.example'), 'shop.com.');
  const lines = rowsOf(`
catalog consume new.com --from mute | 1 | new.com.: the peer mute has no address to transfer from
catalog consume new.com --from nobody | 1 | new.com.: no such peer: nobody
catalog consume zone.com --from hidden | 1 | zone.com.: exists
catalog consume x.shop.com --from hidden | 1 | x.shop.com.: is below the customer's domain shop.com.
catalog consume com --from hidden | 1 | com.: is a public suffix
catalog consume ns.zone.com --from hidden | 1 | ns.zone.com.: is a name at or above records of the zone zone.com.
catalog consume new.com --from hidden --group constructor=absent | 1 | new.com.: no such policy: absent
catalog consume new.com --from hidden --group a=absent | 1 | new.com.: no such policy: absent
catalog consume new.com --from hidden --group absent | 2 | --group: expected GROUP=POLICY
catalog consume new.com --from hidden --group a=b a=c | 2 | --group: a has two policies
catalog consume new.com --from hidden --max-members 1000001 | 2 | --max-members: expected a number
catalog confirm new.com | 1 | new.com.: not a consumed catalog
catalog confirm ${CATALOG} | 1 | ${CATALOG}: no version waits
catalog consume New.com --from hidden other --max-members 5 | 0 | added new.com.
catalog consume new.com --from hidden | 0 | changed new.com.
catalog remove new.com | 0 | removed new.com.`);
  for (const [command = '', code, message] of lines) {
    const { code: got, stdout, stderr } = await run(command);
    expect([command, `${got}`, stdout + stderr]).toEqual([command, code, expect.stringContaining(message!)]);
  }
  expect(await column`select action from audit_log where action like 'catalog.%' order by id`).toEqual([
    'catalog.consume',
    'catalog.consume',
    'catalog.remove',
  ]);
  await publish(['a one.com.', 'b zone.com.']);
  await consume();
  expect((await run(`catalog members ${CATALOG}`)).stdout).toBe(
    'one.com.  a  not transferred yet\nzone.com.  b  not copied: is a zone of this fleet\n',
  );
  expect(await run('catalog list')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^catz.example. +consumer +partial +1 .*CATALOG_NAME_TAKEN/m),
  });
  await publish([], { version: '' });
  await consume();
  expect(await run('catalog list')).toMatchObject({ code: 1 });
  expect(await run(`catalog remove ${CATALOG}`)).toMatchObject({
    code: 1,
    stderr: `${CATALOG}: has 1 members: add --keep-members or --unload-members\n`,
  });
});

describe('a consumed catalog', () => {
  test('adds, resets and removes members, and stays private', async () => {
    expect(await state()).toBe('waiting');
    await publish(['a one.example.', 'b two.example.', 'c three.example.']);
    expect((await loadZone(db, APEX))?.records.some((record) => isPrivateMark(record, APEX))).toBe(true);
    await consume();
    expect(await copied()).toEqual(['one.example.', 'three.example.', 'two.example.']);
    for (const zone of await copied()) {
      const primary = new Primary(zone);
      primary.publish(5, 'www 60 A 192.0.2.9');
      await transfer(zone, primary);
    }
    const before = await column<number>`select id from secondaries where zone_name = 'two.example.'`;
    await publish(['a one.example.', 'other two.example.', 'd four.example.']);
    expect((await loadZone(db, APEX))?.records.some((record) => isPrivateMark(record, APEX))).toBe(true);
    await consume();
    expect(await copied()).toEqual(['four.example.', 'one.example.', 'two.example.']);
    const after = await column<number>`
      select id from secondaries where zone_name = 'two.example.' and serial is null`;
    expect([before.length, after.length, after[0] === before[0]]).toEqual([1, 1, false]);
    const live = await column`select name from zones where deleted_at is null order by 1`;
    expect(live).toEqual([CATALOG, 'one.example.']);
    expect(await state()).toBe('current');
    expect(await consume()).toBe(0);
  });

  test('changes nothing while it is broken', async () => {
    await saveZones(db, [zone('taken.com.')], { source: 'cli' });
    await publish(['x first.example.', 'y taken.com.']);
    await consume();
    await publish(['a one.example.'], { version: '' });
    await unloadZones(db, [parseName('taken.com.')], { source: 'cli' });
    await consume();
    await consume();
    expect(await copied()).toEqual(['first.example.']);
    expect(await state()).toBe('broken');
    expect(await finding()).toEqual({ code: 'CATALOG_BROKEN', message: 'the catalog has no version record' });
    await publish(['y second.example.']);
    await consume();
    expect([await copied(), await state()]).toEqual([['second.example.'], 'current']);
  });

  test('waits for a confirmation of exactly the version that removes most members', async () => {
    await publish(bulk(199));
    await consume();
    const count = () => value<number>`select count(*)::integer from secondaries where catalog_id is not null`;
    await publish(bulk(99));
    await consume();
    expect([await count(), await state()]).toEqual([199, 'held']);
    expect(await finding()).toEqual({
      code: 'CATALOG_HELD',
      message: 'the version removes or resets 100 of 199 members',
    });
    expect(await confirmVersion(db, CATALOG)).toBe('confirmed');
    await publish(bulk(98));
    await consume();
    expect([await count(), await state()]).toEqual([199, 'held']);
    expect(await confirmVersion(db, CATALOG)).toBe('confirmed');
    await consume();
    expect([await count(), await state(), await confirmVersion(db, CATALOG)]).toEqual([
      98,
      'current',
      'not_held',
    ]);
  });

  test('adds at most 200 members in a second, and continues after a crash', async () => {
    const count = () => value<number>`select count(*)::integer from secondaries where catalog_id is not null`;
    await publish(bulk(300));
    await query`update catalogs set next_at = now()`;
    while ((await count()) === 0) await consumer.round();
    expect(await count()).toBe(200);
    const second = new CatalogConsumer({ db: worker, log: { info() {}, warn() {} }, now: () => nowMs });
    expect(await second.round()).toEqual({ isMore: false });
    for (let i = 0; i < 5; i++) await consumer.round(); // the clock stands still
    nowMs += 1000;
    await consumer.round(); // 200 members wait for their first transfer
    expect(await count()).toBe(200);
    await query`update catalogs set leased_until = now() - interval '1 second'`; // the first worker is lost
    await query`update secondaries set serial = 1 where catalog_id is not null`;
    await publish(bulk(250));
    await consume(second);
    expect(await count()).toBe(250);
    nowMs += 1000;
    await consumer.round(); // it still has members to add
    expect(await count()).toBe(250);
  });

  test('stops removing members if the catalog changes meanwhile', async () => {
    await publish(bulk(200));
    await consume();
    const newest = await value<number>`select max(id) from secondaries`;
    await publish(bulk(95));
    await query`update catalogs set next_at = now(), confirmed_version = z.version from zones z where z.name = ${CATALOG}`;
    await consumer.round(); // removes the first 100
    await publish(bulk(200));
    await consume();
    const kept =
      await value`select count(*)::integer from secondaries where catalog_id is not null and id <= ${newest!}`;
    expect(kept).toBe(100);
  });

  test('skips members whose names are taken, and copies them when the names become free', async () => {
    const account = await newAccount(db, 'ann@shop.example');
    const { id } = await newDomain(db, account, 'shop.com.');
    await newDomain(db, account, 'inner.parent.com.');
    await saveZones(db, [zone('operator.com.')], { source: 'cli' });
    await addSecondary(db, { zone: 'hand.com.', from: ['other'], maxRecords: null });
    const names = ['shop.com.', 'www.shop.com.', 'operator.com.', 'x.y.operator.com.', 'hand.com.', CATALOG];
    const bad = ['.', 'com.', 'co.uk.', '*.wild.com.', `x.${CATALOG}`, 'example.net.', 'x.ns1.example.net.'];
    const all = [...names, ...bad, 'parent.com.', 'below.parent.com.', 'good.com.'];
    await publish(all.map((name, i) => `l${i} ${name}`));
    await consume();
    expect(await copied()).toEqual(['below.parent.com.', 'good.com.', 'parent.com.']);
    const [listed] = await loadConsumers(db);
    expect(listed).toMatchObject({ state: 'partial', members: 3, skipped: names.length + bad.length });
    expect(listed?.findings[0]).toMatchObject({
      code: 'CATALOG_NAME_TAKEN',
      names: expect.arrayContaining([
        "shop.com. is a customer's domain",
        "www.shop.com. is below the customer's domain shop.com.",
        'hand.com. is a zone of this fleet',
        'x.y.operator.com. is below the zone operator.com. of this fleet',
        'com. is a public suffix',
      ]),
    });
    await query`update domains set deleted_at = now(), zone_id = null, served = 'none' where id = ${id}`;
    await query`update zones set kind = 'operator', deleted_at = now() where name = 'shop.com.'`;
    await consume();
    expect(await copied()).toEqual(expect.arrayContaining(['shop.com.', 'www.shop.com.']));
  });

  test('waits for a customer who claims a name above at the same time', async () => {
    await publish(['a www.race.com.']);
    const account = await newAccount(db, 'ann@shop.example');
    let joining: Promise<number> | undefined;
    await inTransaction(db, async (trx) => {
      await newDomain(trx, account, 'race.com.');
      joining = consume();
      await until(isLockWaited);
    });
    await joining;
    expect(await copied()).toEqual([]);
    expect(await finding()).toMatchObject({
      names: ["www.race.com. is below the customer's domain race.com."],
    });
  });

  test('reserves the names of its members before their first transfer, and is no evidence about them', async () => {
    await publish(['a held.com.']);
    await consume();
    const account = await newAccount(db, 'ann@shop.example');
    for (const name of ['held.com.', 'www.held.com.'])
      expect(await createDomain(db, wantedDomain(account, name))).toMatchObject({ kind: 'taken' });
    const primary = new Primary('held.com.');
    primary.publish(5, 'www 60 NS ns1');
    await transfer('held.com.', primary);
    expect(await loadHeldZone(worker, parseName('www.held.com.'))).toBeUndefined();
    expect(await removeSecondary(db, 'held.com.', 'test')).toBe('of_catalog');
    expect(await removeSecondary(db, CATALOG, 'test')).toBe('of_catalog');
  });

  test('gives its groups local policies, and applies changes of them', async () => {
    await setPolicy(db, { name: 'gold', transfers: [], notified: ['other'] });
    const policy = () => column`
      select t.name from zones z left join transfer_policies t on t.id = z.policy_id
      where z.name like '%.com.' order by z.name`;
    const again = (policies: Record<string, string>, from = ['hidden']) =>
      consumeCatalog(db, { name: CATALOG, from, policies, maxMembers: undefined });
    expect(await again({ g: 'absent' })).toEqual({ kind: 'refused', message: 'no such policy: absent' });
    expect(await again({ g: 'gold' })).toEqual({ kind: 'changed' });
    const more = 'group.a.zones 0 TXT g\ngroup.b.zones 0 TXT unknown';
    await publish(['a a.com.', 'b b.com.'], { more });
    await consume();
    expect(await policy()).toEqual(['gold', null]);
    await again({ unknown: 'gold' }, ['other']);
    await consume();
    expect(await policy()).toEqual([null, 'gold']);
    expect(
      await column`select distinct peers = array[(select id from peers where name = 'other')] from secondaries`,
    ).toEqual([true]);
    await publish(['a a.com.', 'b b.com.'], { more: 'group.a.zones 0 TXT unknown' });
    await consume();
    expect(await policy()).toEqual(['gold', null]);
    await publish(['a a.com.', 'b b.com.'], { more });
    await query`update catalogs set next_at = now()`;
    await consumer.round(); // applies the version with the former policies
    await again({ g: 'gold' });
    await consume();
    expect(await policy()).toEqual(['gold', null]);
  });

  test.each<[string, () => Promise<unknown>]>([
    [
      'cannot be compared',
      async () => {
        await publish(['a one.com.']);
        await query`update zone_records set rdata = '' where type = 12`;
        return await expect(consumer.round()).rejects.toThrow();
      },
    ],
    [
      'waits longer than a minute for the first transfers of its members',
      async () => {
        await publish(bulk(201));
        for (; nowMs < 60_000; nowMs += 10_000) expect(await consumer.round()).toEqual({ isMore: true });
      },
    ],
  ])('does not delay another one if it %s', async (_, begin) => {
    await begin();
    await consumeOther('a two.com.');
    for (let rounds = 0; rounds < 5; rounds++, nowMs += 1000) await consumer.round();
    expect(await copied()).toEqual(['two.com.']);
  });

  test('gives a member to another catalog of the same peer if both agree', async () => {
    await publish(['a keep.com.', 'b reset.com.', 'c stay.com.']);
    await consume();
    const ids = () => query`
      select zone_name, s.id, c.name from secondaries s join catalogs c on c.id = s.catalog_id order by 1`;
    const [keep, reset, stay] = (await ids()) as { id: number }[];
    await consumeOther('a keep.com.', 'z reset.com.', 'c stay.com.');
    await consume();
    expect((await ids()).map((row) => (row as { name: string }).name)).toEqual([CATALOG, CATALOG, CATALOG]);
    const more = 'coo.a.zones 0 PTR new.example.\ncoo.b.zones 0 PTR new.example.';
    await publish(['a keep.com.', 'b reset.com.', 'c stay.com.'], { more });
    await consume();
    await consume();
    const now = (await ids()) as { id: number; name: string }[];
    expect(now.map(({ name }) => name)).toEqual(['new.example.', 'new.example.', CATALOG]);
    expect([now[0]!.id === keep!.id, now[1]!.id === reset!.id, now[2]!.id === stay!.id]).toEqual([
      true,
      false,
      true,
    ]);
    await publish(['c stay.com.']);
    await consume();
    expect((await ids()).length).toBe(3);
  });

  test.each<[string, string, () => Promise<unknown>]>([
    ['when it is removed', CATALOG, () => removeConsumer(db, CATALOG, 'unload', 'test')],
    ['when its member moves', 'one.com.', () => consume()],
  ])('locks the zone before the row of the copy %s, as saved transfers do', async (_, name, act) => {
    await publish(['a one.com.'], { more: 'coo.a.zones 0 PTR new.example.' });
    await consume();
    await consumeOther('a one.com.');
    let acting: Promise<unknown> | undefined;
    await inTransaction(db, async (trx) => {
      await sql`select from zones where name = ${name} for update`.execute(trx);
      acting = act();
      await until(isLockWaited);
      await sql`select from secondaries where zone_name = ${name} for update nowait`.execute(trx);
    });
    await acting;
  });

  test('is removed with its members or without them', async () => {
    await publish(['a one.com.']);
    await consume();
    expect(await removeConsumer(db, CATALOG, undefined, 'test')).toEqual({ kind: 'has_members', members: 1 });
    expect(await removeConsumer(db, CATALOG, 'keep', 'test')).toEqual({ kind: 'removed', members: 1 });
    expect(await column`select zone_name from secondaries`).toEqual(['one.com.']);
    expect(await removeConsumer(db, CATALOG, 'unload', 'test')).toEqual({ kind: 'absent' });
    await removeSecondary(db, 'one.com.', 'test');
    const again = { name: CATALOG, from: ['hidden'], policies: {}, maxMembers: undefined };
    await consumeCatalog(db, again);
    await publish(['a one.com.']);
    await consume();
    expect(await removeConsumer(db, CATALOG, 'unload', 'test')).toEqual({ kind: 'removed', members: 1 });
    expect(await column`select name from zones where deleted_at is null`).toEqual([]);
  });
});

const zone = (name: string) => ({
  apex: parseName(name),
  records: recordsOf('@ 60 SOA ns h 1 2 3 4 5\n@ 60 NS ns.example.\nns 60 A 192.0.2.1', name),
});
