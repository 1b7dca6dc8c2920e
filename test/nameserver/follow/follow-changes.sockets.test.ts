// A node follows Postgres: every kind of change arrives, failures are recovered from, and accidental removals are held.

import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { ZoneCounts } from '../../../src/nameserver/counts/zone-counts.ts';
import { explainStart } from '../../../src/nameserver/follow/follow-changes.ts';
import { AskedMarks } from '../../../src/nameserver/image/find/asked-marks.ts';
import { hashName } from '../../../src/nameserver/image/hash-name.ts';
import { Wakeup } from '../../../src/process/reconnect.ts';
import { confirmNodes, listNodes } from '../../../src/store/feed/nodes.ts';
import { purgeFeed } from '../../../src/store/housekeeping/purges.ts';
import { type Database, openDatabase } from '../../../src/store/postgres/database.ts';
import { saveZones, unloadZones } from '../../../src/store/zones/save-zones.ts';
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import {
  collectingLog,
  differences,
  type FollowingNode,
  follow as followAlone,
  followLoaded,
  newWriter,
  smallZone,
  untilEqual,
} from '../../support/processes/follow.ts';
import { startProxy, type TcpProxy } from '../../support/processes/tcp-proxy.ts';
import { until } from '../../support/tests/until.ts';

const BY = { source: 'test' } as const;
const A = parseName('a.example.');

let database: TestDatabase;
let db: Database;
let nodes: FollowingNode[];
let proxies: TcpProxy[];
let log: ReturnType<typeof collectingLog>;

beforeEach(async () => {
  database = await createDatabase();
  db = database.db;
  nodes = [];
  proxies = [];
  log = collectingLog();
});

afterEach(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
  await Promise.all(proxies.map((proxy) => proxy.stop()));
  vi.restoreAllMocks();
  await database.drop();
});

/** Makes nodes check and report only when they are woken. */
function withoutTimers(): void {
  const { wait } = Wakeup.prototype;
  vi.spyOn(Wakeup.prototype, 'wait').mockImplementation(function (this: Wakeup) {
    return wait.call(this, 2 ** 31 - 1);
  });
}

async function follow(options: Partial<Parameters<typeof followLoaded>[0]> = {}): Promise<FollowingNode> {
  const node = await followLoaded({ databaseUrl: database.url, log, ...options });
  nodes.push(node);
  return node;
}

async function proxied(): Promise<TcpProxy> {
  const proxy = await startProxy(database.url);
  proxies.push(proxy);
  return proxy;
}

/** Saves zones, each as `name serial`. */
async function save(...zones: readonly string[]): Promise<number> {
  const split = zones.map((zone) => zone.split(' ') as [string, string]);
  return saveSized(split.map(([name, serial]) => smallZone(`${name}.example.`, Number(serial))));
}

async function saveSized(zones: Parameters<typeof saveZones>[1]): Promise<number> {
  const [saved] = await saveZones(db, zones, BY);
  return saved?.version ?? Number.NaN;
}

const unload = (...names: string[]) =>
  unloadZones(
    db,
    names.map((name) => parseName(`${name}.example.`)),
    BY,
  );
const many = (count: number, serial?: number) =>
  Array.from({ length: count }, (_, i) => (serial === undefined ? `z${i}` : `z${i} ${serial}`));
const serialOf = (node: FollowingNode, name: string) => node.zones.get(parseName(`${name}.example.`))?.serial;
const untilSerial = (node: FollowingNode, name: string, serial: number) =>
  until(() => serialOf(node, name) === serial, `${name} has serial ${serial}`);
const hasLogged = (text: string) => log.lines.some(({ message }) => message.includes(text));
const listed = async () => (await listNodes(db))[0];

test('a node reports queried unproven zones to the primary, and retries after an outage', async () => {
  const primary = await proxied();
  const accountId = await newAccount(db, 'a@example.org');
  for (const name of ['waits.example.', 'also.example.', 'proven.example.'])
    await newDomain(db, accountId, name);
  await sql`update zone_records set ttl = 0, removed = true where type = 0 and owner = 'proven.example.'`.execute(
    db,
  );
  const writer = newWriter();
  const asked = new AskedMarks();
  // Like a node on a standby: reads there, and reports to the primary.
  const node = await follow({ databaseUrl: primary.url, readUrl: database.url, writer, asked });
  const ask = (name: string) => asked.note(hashName(writer.image.header, parseName(name)));
  const reported = async () => {
    const { rows } = await sql<{ name: string }>`
        select z.name from asked_names a join zones z on z.id = a.zone_id order by a.asked_at`.execute(db);
    return rows.map(({ name }) => name);
  };
  for (const name of ['proven.example.', 'unknown.example.', 'waits.example.']) ask(name);
  await until(async () => (await reported()).length === 1, 'the first zone is reported');
  primary.cut();
  ask('also.example.');
  const before = primary.refused();
  await until(() => primary.refused() > before, 'the node has missed the primary');
  expect(await reported()).toHaveLength(1);
  primary.resume();
  await until(async () => (await reported()).length === 2, 'the second zone is reported');
  expect(await reported()).toEqual(['waits.example.', 'also.example.']);
  await until(() => node.state().asked.reported === 2);
  expect(node.state().asked).toEqual({ reported: 2, dropped: 0 });
});

test('counts of answers reach the primary exactly and by minute, including those of an outage', async () => {
  const primary = await proxied();
  // in the middle of a minute, so that only the test starts a new one
  const start = Math.ceil(Date.now() / 60_000) * 60_000 + 20_000;
  let at = start;
  vi.spyOn(Date, 'now').mockImplementation(() => at);
  const threads = [new ZoneCounts(), new ZoneCounts()] as const;
  const urls = { databaseUrl: primary.url, readUrl: database.url };
  const node = await follow({ ...urls, nodeName: 'ams1', zoneCounts: threads });
  const [low, high] = new Int32Array(Float64Array.of(77).buffer) as unknown as [number, number];
  const count = (thread: 0 | 1, times: number) => {
    for (let i = 0; i < times; i++) threads[thread].count(low, high, 28, 3);
  };
  const rows = async () =>
    (
      await sql<{ node: string; minute: Date; counts: readonly number[] }>`
          select node, minute, to_jsonb(zone_ids) as zones, types, rcodes, to_jsonb(counts) as counts
          from dns_counts order by part`.execute(db)
    ).rows;
  count(0, 3);
  count(1, 4);
  at += 60_000; // counts are taken immediately after the end of their minute
  await until(async () => (await rows()).length === 1, 'the first minute has arrived');
  expect(await rows()).toMatchObject([
    { node: 'ams1', minute: new Date(start - 20_000), zones: [77], types: [28], rcodes: [3], counts: [7] },
  ]);
  primary.cut();
  const take = vi.spyOn(threads[1], 'take');
  for (const [i, times] of [10, 20].entries()) {
    count(1, times);
    at += 60_000;
    await until(() => take.mock.calls.length > i, 'the counts are taken');
  }
  expect(await rows()).toHaveLength(1);
  primary.resume();
  await until(async () => (await rows()).length === 3, 'the counts of the outage have arrived');
  count(0, 5);
  await node.stop(); // a node that stops also reports the current minute
  expect((await rows()).map(({ counts }) => counts)).toEqual([[7], [10], [20], [5]]);
  expect(node.state().counted).toEqual({ reported: 42, other: 0, dropped: 0 });
});

test('without timers, a change arrives by NOTIFY, and the node reports its position and signs off when it stops', async () => {
  withoutTimers();
  await save('a 1');
  const node = await follow({ nodeName: 'ns1' });
  await until(async () => (await listed())?.loaded === true);
  for (let serial = 2; serial < 8; serial++) {
    const version = await save(`a ${serial}`);
    await untilSerial(node, 'a', serial);
    await until(async () => (await listed())?.position === version);
  }
  expect(await listed()).toMatchObject({
    name: 'ns1',
    state: 'live',
    zones: 1,
    records: 3,
    held: null,
    lagSeconds: 0,
  });
  await node.stop();
  expect((await listed())?.state).toBe('left');
});

test('only added, changed and deleted record sets are loaded, and only zones that change later are reported', async () => {
  await saveSized([smallZone('a.example.', 1, 'mail A 192.0.2.7\nmail AAAA 2001:db8::7\n*.w TXT "x"')]);
  const onServed = vi.fn();
  const node = await follow({ onServed });
  const before = node.zones.get(A);
  await save('b 1');
  await untilSerial(node, 'b', 1);
  await saveSized([smallZone('a.example.', 2, 'mail A 192.0.2.8\nmail A 192.0.2.7\nx.y.z TXT "new"')]);
  await untilSerial(node, 'a', 2);
  expect(await differences(node, db)).toEqual([]);
  const reported = onServed.mock.calls.map(([{ apex }]) => apex);
  expect(reported).toEqual([parseName('b.example.'), A]);
  expect(before?.serial).toBe(1); // a zone that was read earlier is a separate object
  const www = before?.nodes.get(parseName('www.a.example.'));
  expect(www?.sets.get(1)?.rdata).toEqual([Uint8Array.of(192, 0, 2, 1)]);
});

test('a transaction that commits late is not skipped, even if the feed has advanced', async () => {
  await save('a 1', 'b 1');
  const node = await follow();
  const late = openDatabase(database.url, { maxConnections: 1 });
  await late.transaction().execute(async (trx) => {
    // The statements of saveZones, kept open while other writers continue.
    for (const statement of [
      sql`update zones set version = nextval('change_version'), mark = 1 where name = 'a.example.'`,
      sql`update zone_records set ttl = 77, version = z.version from zones z
          where z.id = zone_id and z.name = 'a.example.'`,
      sql`insert into changes (id, zone_id, zone, operation, source, mark)
          select version, id, name, 'zone.save', 'test', mark from zones where name = 'a.example.'`,
    ])
      await statement.execute(trx);
    for (let serial = 2; serial < 8; serial++) {
      await save(`b ${serial}`);
      await untilSerial(node, 'b', serial);
    }
    expect(node.zones.get(A)?.soa.ttl).toBe(300);
  });
  await late.destroy();
  await until(() => node.zones.get(A)?.soa.ttl === 77);
  expect(await differences(node, db)).toEqual([]);
});

test('a zone that cannot be built keeps its old version, and the next valid one is served', async () => {
  await save('a 1');
  const node = await follow();
  const { apex, records } = smallZone('a.example.', 2);
  await saveSized([{ apex, records: records.filter((record) => record.type !== 6) }]);
  await until(() => node.state().refused === 1);
  expect(serialOf(node, 'a')).toBe(1);
  expect(log.lines).toContainEqual(
    expect.objectContaining({
      level: 'error',
      message: 'a zone cannot be built: its old version, if any, is still served',
    }),
  );
  await save('a 3');
  await untilSerial(node, 'a', 3);
  expect(node.state().refused).toBe(0);
  expect(await differences(node, db)).toEqual([]);
});

test('all changes arrive if there are more than one read returns', async () => {
  await save(...many(60, 1));
  const proxy = await proxied();
  const node = await follow({ databaseUrl: proxy.url });
  proxy.pause();
  // 6,000 rows of the feed, most for versions that no longer exist.
  await sql`insert into changes (id, zone_id, zone, operation, source, mark)
      select nextval('change_version'), z.id, z.name, 'zone.save', 'test', 1
      from zones z, generate_series(1, 100)`.execute(db);
  await save(...many(60, 2));
  proxy.resume();
  await untilEqual(node, db);
});

test('a connection that is cut is noticed, and missed changes are loaded', async () => {
  await save(...many(5, 1));
  const proxy = await proxied();
  const node = await follow({ databaseUrl: proxy.url });
  proxy.cut();
  await until(() => !node.state().connected);
  await save('z1 2', 'new 1');
  await unload('z2');
  expect(node.zones.size).toBe(5);
  proxy.resume();
  await untilEqual(node, db);
  expect(log.lines.filter((line) => line.level === 'warn')).not.toEqual([]);
});

test('a node that starts during an outage of Postgres waits for it', async () => {
  await save('a 1');
  const proxy = await proxied();
  proxy.cut();
  const node = await followAlone({ databaseUrl: proxy.url });
  nodes.push(node);
  expect(node.state()).toMatchObject({ loaded: false, zones: 0 });
  proxy.resume();
  await until(() => node.state().loaded);
  expect(node.zones.size).toBe(1);
  await until(async () => (await listed())?.state === 'live');
});

test('zones that do not fit into the image keep their old version until there is space', async () => {
  const sized = (name: string, serial: number, texts: number) =>
    smallZone(
      `${name}.example.`,
      serial,
      Array.from({ length: texts }, (_, i) => `t${i} TXT "${'x'.repeat(250)}"`).join('\n'),
    );
  await saveSized(many(3).map((name) => sized(name, 1, 20)));
  const node = await follow({ writer: newWriter(64 << 10) });
  expect(node.state()).toMatchObject({ zones: 3, withoutRoom: 0 });
  await saveSized([sized('z0', 2, 130), sized('new', 1, 110), sized('z1', 2, 21)]);
  await until(() => node.state().withoutRoom === 2 && serialOf(node, 'z1') === 2);
  expect([serialOf(node, 'z0'), serialOf(node, 'new'), node.state().refused]).toEqual([1, undefined, 0]);
  await until(() => hasLogged('IMAGE_BYTES'));
  // A zone without space is known: it may be deleted or replaced, and a comparison does not load it again.
  await saveSized([sized('new', 2, 3)]);
  await untilSerial(node, 'new', 2);
  await unload('z1', 'z2');
  await until(() => node.state().withoutRoom === 0);
  expect(serialOf(node, 'z0')).toBe(2);
  expect(await differences(node, db)).toEqual([]);
});

test('a second live process with the same name is refused, and the name is free after the first one ends', async () => {
  const first = await follow({ nodeName: 'ns1' });
  const refused = await followAlone({ databaseUrl: database.url, nodeName: 'ns1' }).catch(explainStart);
  expect(refused).toContain('NODE_NAME: another process runs as node "ns1"');
  await first.stop();
  expect((await follow({ nodeName: 'ns1' })).state().loaded).toBe(true);
  const empty = await createDatabase({ empty: true });
  await expect(followAlone({ databaseUrl: empty.url, nodeName: 'ns1' })).rejects.toThrow('zonefleet migrate');
  await empty.drop();
});

test('a comparison finds rows that were changed without the feed', async () => {
  await save(...many(3, 1));
  const node = await follow();
  await save('z1 2');
  await untilSerial(node, 'z1', 2);
  await sql`update zones set deleted_at = now() where name = 'z2.example.'`.execute(db);
  await sql`update zone_records set ttl = 99 from zones z where z.id = zone_id and z.name = 'z0.example.'`.execute(
    db,
  );
  await sql`update zones set mark = mark # 1 where name = 'z0.example.'`.execute(db);
  await untilEqual(node, db);
});

test('a feed that lost changes loaded by the node counts as another history', async () => {
  await save(...many(3, 1));
  const lost = await save('z1 2');
  const node = await follow();
  // As after a crash of a server with unflushed commits: the same version occurs again with other content.
  await sql`delete from changes where id = ${lost}`.execute(db);
  await sql`select setval('change_version', ${lost - 1})`.execute(db);
  await save('z2 7');
  await untilEqual(node, db);
  expect(hasLogged('another history')).toBe(true);
});

test('a node that was disconnected for longer than the feed keeps changes compares all zones', async () => {
  await saveSized(many(4).map((name) => smallZone(`${name}.example.`, 1, 'old TXT "x"')));
  const proxy = await proxied();
  const node = await follow({ databaseUrl: proxy.url });
  proxy.cut();
  await until(() => !node.state().connected);
  await save('z1 2');
  await unload('z2');
  await save('z3 2');
  await sql`update changes set at = at - interval '8 days'`.execute(db);
  await sql`update zones set deleted_at = deleted_at - interval '8 days' where deleted_at is not null`.execute(
    db,
  );
  await purgeFeed(db, 7);
  await save('z3 3');
  proxy.resume();
  await untilEqual(node, db);
  expect(hasLogged('longer than the feed keeps changes')).toBe(true);
});

test('removals of most zones are held, listed, and applied once confirmed', async () => {
  await save(...many(150, 1));
  const node = await follow({ nodeName: 'ns1' });
  await unload(...many(120));
  await until(() => node.state().held?.zones === 120);
  expect(node.zones.size).toBe(150);
  expect(log.lines.some(({ level, message }) => level === 'error' && message.includes('node confirm'))).toBe(
    true,
  );
  await until(async () => (await listed())?.held?.zones === 120);
  // Other changes are applied, and a zone that reappears is no longer held.
  await save('z0 2', 'new 1');
  await until(() => serialOf(node, 'z0') === 2 && node.zones.size === 151);
  expect(node.state().held?.zones).toBe(119);
  await unload('z149');
  await until(() => node.state().held?.zones === 120);
  await until(async () => (await listed())?.held?.zones === 120);
  expect(await confirmNodes(db, ['ns1', 'ns9'])).toEqual([
    { name: 'ns1', outcome: 'confirmed', zones: 120 },
    { name: 'ns9', outcome: 'absent', zones: 0 },
  ]);
  await until(() => node.state().held === undefined);
  expect(await differences(node, db)).toEqual([]);
  await until(async () => (await listed())?.held === null);
  expect(await confirmNodes(db, ['ns1'])).toEqual([{ name: 'ns1', outcome: 'nothing-held', zones: 0 }]);
});

test('an emptied database removes no zone until the removals are confirmed', async () => {
  await save(...many(110, 1));
  const node = await follow({ nodeName: 'ns1' });
  await sql`update feed set epoch = gen_random_uuid()`.execute(db);
  await sql`delete from zones`.execute(db);
  await until(() => node.state().held?.zones === 110);
  expect(node.zones.size).toBe(110);
  await save(...many(109, 3));
  await until(() => node.state().held?.zones === 1);
  expect([serialOf(node, 'z1'), serialOf(node, 'z109')]).toEqual([3, 1]);
});
