// A node follows Postgres: every kind of change arrives, failures heal, and accidents are held back.

import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { ZoneCounts } from '../../../src/nameserver/counts/zone-counts.ts';
import { Wakeup } from '../../../src/process/reconnect.ts';
import { confirmNodes, listNodes } from '../../../src/store/feed/nodes.ts';
import { openDatabase } from '../../../src/store/postgres/database.ts';
import { saveZones, unloadZones } from '../../../src/store/zones/save-zones.ts';
import { AskedMarks } from '../../../src/zone/image/find/asked-marks.ts';
import { hashName } from '../../../src/zone/image/hash-name.ts';
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
import { startProxy } from '../../support/processes/tcp-proxy.ts';
import { until } from '../../support/tests/until.ts';

const BY = { source: 'test' } as const;
const WWW = parseName('www.a.example.');

/** Nobody looks at the slots' memory otherwise: their counts are 0 again. */
function isTaken({ buffer }: ZoneCounts): boolean {
  return new Int32Array(buffer, 64, 2 ** 17).every((word, i) => i % 4 !== 3 || word === 0);
}

let database: TestDatabase;
let nodes: FollowingNode[];

beforeEach(async () => {
  database = await createDatabase();
  nodes = [];
});

afterEach(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
  vi.restoreAllMocks();
  await database.drop();
});

/** Nodes look and report when something wakes them, and at no other time. */
function withoutTimers(): void {
  const { wait } = Wakeup.prototype;
  vi.spyOn(Wakeup.prototype, 'wait').mockImplementation(function (this: Wakeup) {
    return wait.call(this, 2 ** 31 - 1);
  });
}

async function follow(options: Partial<Parameters<typeof followLoaded>[0]> = {}): Promise<FollowingNode> {
  const node = await followLoaded({ databaseUrl: database.url, ...options });
  nodes.push(node);
  return node;
}

const names = (count: number) => Array.from({ length: count }, (_, i) => `z${i}.example.`);

test('a node loads what is there and follows new, changed and unloaded zones', async () => {
  const { db } = database;
  await saveZones(db, [smallZone('a.example.', 1), smallZone('b.example.', 1)], BY);
  const node = await follow();
  expect(node.state()).toMatchObject({ zones: 2, records: 6, refused: 0, lagSeconds: 0, connected: true });
  const [saved] = await saveZones(db, [smallZone('a.example.', 2), smallZone('c.example.', 1)], BY);
  await until(() => node.zones.size === 3);
  expect(node.zones.get(parseName('a.example.'))?.serial).toBe(2);
  await until(() => (node.state().position ?? 0) >= (saved?.version ?? Number.NaN));
  await unloadZones(db, [parseName('b.example.')], BY);
  await until(() => !node.zones.has(parseName('b.example.')));
  expect(await differences(node, db)).toEqual([]);
  expect(node.state().records).toBe(6);
});

test('unproven zones that are asked for are reported to the primary, also when it was away, and no others', async () => {
  const { db } = database;
  const primary = await startProxy(database.url);
  const accountId = await newAccount(db, 'a@example.org');
  for (const name of ['waits.example.', 'also.example.', 'proven.example.'])
    await newDomain(db, accountId, name);
  await sql`update zone_records set ttl = 0, removed = true where type = 0 and owner = 'proven.example.'`.execute(
    db,
  );
  const writer = newWriter();
  const asked = new AskedMarks();
  // As a node on a standby: it reads there and reports to the primary.
  const node = await follow({ databaseUrl: primary.url, readUrl: database.url, writer, asked });
  const ask = (name: string) => asked.note(hashName(writer.image.header, parseName(name)));
  const reported = async () => {
    const { rows } = await sql<{ name: string }>`
        select z.name from asked_names a join zones z on z.id = a.zone_id order by a.asked_at`.execute(db);
    return rows.map(({ name }) => name);
  };
  for (const name of ['proven.example.', 'unknown.example.', 'waits.example.']) ask(name);
  await until(async () => (await reported()).length === 1, 'it is reported');
  primary.cut();
  ask('also.example.');
  const before = primary.refused();
  await until(() => primary.refused() > before, 'the node has missed the primary');
  expect(await reported()).toHaveLength(1);
  primary.resume();
  await until(async () => (await reported()).length === 2, 'it is reported, too');
  expect(await reported()).toEqual(['waits.example.', 'also.example.']);
  await until(() => node.state().asked.reported === 2);
  expect(node.state().asked).toEqual({ reported: 2, dropped: 0 });
  await primary.stop();
});

test('counts of answers reach the primary minute by minute, exactly, also those of minutes in which it was away', async () => {
  const { db } = database;
  const primary = await startProxy(database.url);
  const now = Date.now;
  // in the middle of a minute, so that only the test begins one
  const start = Math.ceil(now() / 60_000) * 60_000 + 20_000;
  let at = start;
  vi.spyOn(Date, 'now').mockImplementation(() => at);
  const threads = [new ZoneCounts(), new ZoneCounts()] as const;
  const node = await follow({
    databaseUrl: primary.url,
    readUrl: database.url,
    nodeName: 'ams1',
    zoneCounts: threads,
  });
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
  await until(() => threads.every((thread) => isTaken(thread)), 'the counts are taken');
  at += 60_000;
  await until(async () => (await rows()).length === 1, 'the first minute has arrived');
  expect(await rows()).toMatchObject([
    { node: 'ams1', minute: new Date(start - 20_000), zones: [77], types: [28], rcodes: [3], counts: [7] },
  ]);
  primary.cut();
  for (const times of [10, 20]) {
    count(1, times);
    await until(() => isTaken(threads[1]), 'the counts are taken');
    at += 60_000;
    await pause(600); // longer than between two looks at the counts
  }
  expect(await rows()).toHaveLength(1);
  primary.resume();
  await until(async () => (await rows()).length === 3, 'what was counted meanwhile has arrived');
  count(0, 5);
  await node.stop(); // a node that is stopped also reports the minute that has begun
  expect((await rows()).map(({ counts }) => counts)).toEqual([[7], [10], [20], [5]]);
  expect(node.state().counted).toEqual({ reported: 42, other: 0, dropped: 0 });
  await primary.stop();
});

test('a change arrives by NOTIFY, without the timer', async () => {
  const { db } = database;
  withoutTimers();
  await saveZones(db, [smallZone('a.example.', 1)], BY);
  const node = await follow();
  for (let serial = 2; serial < 12; serial++) {
    await saveZones(db, [smallZone('a.example.', serial)], BY);
    await until(() => node.zones.get(parseName('a.example.'))?.serial === serial);
  }
});

test('record sets that appear, change and vanish are loaded alone, the rest of the zone stays', async () => {
  const { db } = database;
  await saveZones(
    db,
    [smallZone('a.example.', 1, 'mail A 192.0.2.7\nmail AAAA 2001:db8::7\n*.w TXT "x"')],
    BY,
  );
  const node = await follow();
  const before = node.zones.get(parseName('a.example.'));
  await saveZones(
    db,
    [smallZone('a.example.', 2, 'mail A 192.0.2.8\nmail A 192.0.2.7\nx.y.z TXT "new"')],
    BY,
  );
  await until(() => node.zones.get(parseName('a.example.'))?.serial === 2);
  expect(await differences(node, db)).toEqual([]);
  expect(before?.serial).toBe(1); // what was read before is another object
  expect(before?.nodes.get(WWW)?.sets.get(1)?.rdata).toEqual([Uint8Array.of(192, 0, 2, 1)]);
});

test('a transaction that commits late is not passed over, however far the feed has gone on', async () => {
  const { db } = database;
  await saveZones(db, [smallZone('a.example.', 1), smallZone('b.example.', 1)], BY);
  const node = await follow();
  const late = openDatabase(database.url, { maxConnections: 1 });
  await late.transaction().execute(async (trx) => {
    // The same statements as in saveZones, left open while other writers go on.
    await sql`update zones set version = nextval('change_version'), mark = 1 where name = 'a.example.'`.execute(
      trx,
    );
    await sql`update zone_records set ttl = 77, version = z.version from zones z
        where z.id = zone_id and z.name = 'a.example.'`.execute(trx);
    await sql`insert into changes (id, zone_id, zone, operation, source, mark)
        select version, id, name, 'zone.save', 'test', mark from zones where name = 'a.example.'`.execute(
      trx,
    );
    for (let serial = 2; serial < 8; serial++) {
      await saveZones(db, [smallZone('b.example.', serial)], BY);
      await until(() => node.zones.get(parseName('b.example.'))?.serial === serial);
    }
    expect(node.zones.get(parseName('a.example.'))?.soa.ttl).toBe(300);
  });
  await late.destroy();
  await until(() => node.zones.get(parseName('a.example.'))?.soa.ttl === 77);
  expect(await differences(node, db)).toEqual([]);
});

test('a zone that cannot be built keeps its old version, and the next good one is served', async () => {
  const { db } = database;
  const log = collectingLog();
  await saveZones(db, [smallZone('a.example.', 1)], BY);
  const node = await follow({ log });
  const { apex, records } = smallZone('a.example.', 2);
  await saveZones(db, [{ apex, records: records.filter((record) => record.type !== 6) }], BY);
  await until(() => node.state().refused === 1);
  expect(node.zones.get(apex)?.serial).toBe(1);
  expect(log.lines.some((line) => line.level === 'error' && line.message === 'a zone cannot be built')).toBe(
    true,
  );
  await saveZones(db, [smallZone('a.example.', 3)], BY);
  await until(() => node.zones.get(apex)?.serial === 3);
  expect(node.state().refused).toBe(0);
  expect(await differences(node, db)).toEqual([]);
});

test('more changes than one read takes arrive all', async () => {
  const { db } = database;
  await saveZones(
    db,
    names(60).map((name) => smallZone(name, 1)),
    BY,
  );
  const proxy = await startProxy(database.url);
  const node = await follow({ databaseUrl: proxy.url });
  proxy.pause();
  // 6,000 rows of the feed, of which most speak of versions that are gone.
  await sql`insert into changes (id, zone_id, zone, operation, source, mark)
      select nextval('change_version'), z.id, z.name, 'zone.save', 'test', 1
      from zones z, generate_series(1, 100)`.execute(db);
  await saveZones(
    db,
    names(60).map((name) => smallZone(name, 2)),
    BY,
  );
  proxy.resume();
  await untilEqual(node, db);
  await proxy.stop();
});

test('a connection that is cut or silent is noticed, and what was missed is caught up', async () => {
  const { db } = database;
  const log = collectingLog();
  await saveZones(
    db,
    names(5).map((name) => smallZone(name, 1)),
    BY,
  );
  const proxy = await startProxy(database.url);
  const node = await follow({ databaseUrl: proxy.url, log });
  proxy.cut();
  await until(() => !node.state().connected);
  await saveZones(db, [smallZone('z1.example.', 2), smallZone('new.example.', 1)], BY);
  await unloadZones(db, [parseName('z2.example.')], BY);
  expect(node.zones.size).toBe(5);
  proxy.resume();
  await untilEqual(node, db);
  expect(log.lines.filter((line) => line.level === 'warn')).not.toEqual([]);
  await proxy.stop();
});

test('with Postgres away at the start a node waits for it', async () => {
  const { db } = database;
  await saveZones(db, [smallZone('a.example.', 1)], BY);
  const proxy = await startProxy(database.url);
  proxy.cut();
  const node = await followAlone({ databaseUrl: proxy.url });
  nodes.push(node);
  expect(node.state()).toMatchObject({ loaded: false, zones: 0 });
  proxy.resume();
  await until(() => node.state().loaded);
  expect(node.zones.size).toBe(1);
  await until(async () => (await listNodes(db))[0]?.state === 'live');
  await proxy.stop();
});

test('zones for which the image has no room keep their old version, and find room when there is some', async () => {
  const { db } = database;
  const log = collectingLog();
  const large = 'x'.repeat(250);
  const sized = (name: string, serial: number, texts: number) =>
    smallZone(name, serial, Array.from({ length: texts }, (_, i) => `t${i} TXT "${large}"`).join('\n'));
  await saveZones(
    db,
    names(3).map((name) => sized(name, 1, 20)),
    BY,
  );
  const writer = newWriter(64 << 10);
  const node = await follow({ log, writer });
  expect(node.state()).toMatchObject({ zones: 3, withoutRoom: 0 });
  await saveZones(
    db,
    [sized('z0.example.', 2, 130), sized('new.example.', 1, 110), sized('z1.example.', 2, 21)],
    BY,
  );
  await until(() => node.state().withoutRoom === 2 && node.zones.get(parseName('z1.example.'))?.serial === 2);
  expect(node.zones.get(parseName('z0.example.'))?.serial).toBe(1);
  expect(node.zones.has(parseName('new.example.'))).toBe(false);
  expect(node.state().refused).toBe(0);
  await until(() => log.lines.some(({ message }) => message.includes('IMAGE_BYTES')));
  // What has no room is known all the same: it may go, be replaced by what fits, and is no news to a comparison.
  await saveZones(db, [sized('new.example.', 2, 3)], BY);
  await until(() => node.zones.get(parseName('new.example.'))?.serial === 2);
  await unloadZones(db, [parseName('z1.example.'), parseName('z2.example.')], BY);
  await until(() => node.state().withoutRoom === 0);
  expect(node.zones.get(parseName('z0.example.'))?.serial).toBe(2);
  expect(await differences(node, db)).toEqual([]);
});

test('a second live process of one name is refused; after its end the name is free', async () => {
  const first = await follow({ nodeName: 'ns1' });
  const second = followAlone({ databaseUrl: database.url, nodeName: 'ns1' });
  await expect(second).rejects.toThrow('another process runs as node "ns1"');
  await first.stop();
  const third = await follow({ nodeName: 'ns1' });
  expect(third.state().loaded).toBe(true);
});

test('a schema that is missing is refused', async () => {
  const empty = await createDatabase({ empty: true });
  await expect(followAlone({ databaseUrl: empty.url, nodeName: 'ns1' })).rejects.toThrow('zonefleet migrate');
  await empty.drop();
});

test('a node reports its position when it has another, and signs off when it stops', async () => {
  const { db } = database;
  withoutTimers();
  await saveZones(db, [smallZone('a.example.', 1)], BY);
  const node = await follow({ nodeName: 'ns1' });
  await until(async () => (await listNodes(db))[0]?.loaded === true);
  for (let serial = 2; serial < 7; serial++) {
    const [saved] = await saveZones(db, [smallZone('a.example.', serial)], BY);
    await until(() => node.zones.get(parseName('a.example.'))?.serial === serial);
    await until(async () => (await listNodes(db))[0]?.position === saved?.version);
  }
  const [listed] = await listNodes(db);
  expect(listed).toMatchObject({
    name: 'ns1',
    state: 'live',
    zones: 1,
    records: 3,
    held: null,
    lagSeconds: 0,
  });
  await node.stop();
  expect((await listNodes(db))[0]?.state).toBe('left');
});

test('rows that were changed behind the back of the feed are found by comparison', async () => {
  const { db } = database;
  await saveZones(
    db,
    names(3).map((name) => smallZone(name, 1)),
    BY,
  );
  const node = await follow();
  await saveZones(db, [smallZone('z1.example.', 2)], BY);
  await until(() => node.zones.get(parseName('z1.example.'))?.serial === 2);
  await sql`update zones set deleted_at = now() where name = 'z2.example.'`.execute(db);
  await sql`update zone_records set ttl = 99 from zones z where z.id = zone_id and z.name = 'z0.example.'`.execute(
    db,
  );
  await sql`update zones set mark = mark # 1 where name = 'z0.example.'`.execute(db);
  await untilEqual(node, db);
});

test('a feed that lost changes the node has seen is another epoch', async () => {
  const { db } = database;
  await saveZones(
    db,
    names(3).map((name) => smallZone(name, 1)),
    BY,
  );
  const [gone] = await saveZones(db, [smallZone('z1.example.', 2)], BY);
  const log = collectingLog();
  const node = await follow({ log });
  // As a server does that crashed with commits not on disk: the same version comes again with another content.
  await sql`delete from changes where id = ${gone?.version}`.execute(db);
  await sql`select setval('change_version', ${(gone?.version ?? 0) - 1})`.execute(db);
  await saveZones(db, [smallZone('z2.example.', 7)], BY);
  await untilEqual(node, db);
  expect(log.lines.some((line) => line.message.includes('another history'))).toBe(true);
});

test('a node that was away longer than the feed reaches back compares all zones', async () => {
  const { db } = database;
  const log = collectingLog();
  await saveZones(
    db,
    names(4).map((name) => smallZone(name, 1, 'old TXT "x"')),
    BY,
  );
  const proxy = await startProxy(database.url);
  const node = await follow({ databaseUrl: proxy.url, log });
  proxy.cut();
  await until(() => !node.state().connected);
  await saveZones(db, [smallZone('z1.example.', 2)], BY);
  await unloadZones(db, [parseName('z2.example.')], BY);
  await saveZones(db, [smallZone('z3.example.', 2)], BY);
  await sql`update changes set at = at - interval '8 days'`.execute(db);
  await sql`update zones set deleted_at = deleted_at - interval '8 days' where deleted_at is not null`.execute(
    db,
  );
  const { purgeFeed } = await import('../../../src/store/housekeeping/purge-feed.ts');
  await purgeFeed(db, 7);
  await saveZones(db, [smallZone('z3.example.', 3)], BY);
  proxy.resume();
  await untilEqual(node, db);
  expect(log.lines.some((line) => line.message.includes('longer than the feed reaches back'))).toBe(true);
  await proxy.stop();
});

test('a feed that takes away most zones is held, shown, and let through when confirmed', async () => {
  const { db } = database;
  const log = collectingLog();
  await saveZones(
    db,
    names(150).map((name) => smallZone(name, 1)),
    BY,
  );
  const node = await follow({ nodeName: 'ns1', log });
  await unloadZones(
    db,
    names(120).map((name) => parseName(name)),
    BY,
  );
  await until(() => node.state().held?.zones === 120);
  expect(node.zones.size).toBe(150);
  expect(log.lines.some((line) => line.level === 'error' && line.message.includes('node confirm'))).toBe(
    true,
  );
  await until(async () => (await listNodes(db))[0]?.held?.zones === 120);
  // Other changes go on, and a zone that comes back is held no longer.
  await saveZones(db, [smallZone('z0.example.', 2), smallZone('new.example.', 1)], BY);
  await until(() => node.zones.get(parseName('z0.example.'))?.serial === 2 && node.zones.size === 151);
  expect(node.state().held?.zones).toBe(119);
  await unloadZones(db, [parseName('z149.example.')], BY);
  await until(() => node.state().held?.zones === 120);
  await until(async () => (await listNodes(db))[0]?.held?.zones === 120);
  expect(await confirmNodes(db, ['ns1', 'ns9'])).toEqual([
    { name: 'ns1', outcome: 'confirmed', zones: 120 },
    { name: 'ns9', outcome: 'absent', zones: 0 },
  ]);
  await until(() => node.state().held === undefined);
  expect(await differences(node, db)).toEqual([]);
  await until(async () => (await listNodes(db))[0]?.held === null);
  expect(await confirmNodes(db, ['ns1'])).toEqual([{ name: 'ns1', outcome: 'nothing-held', zones: 0 }]);
});

test('a database that was emptied takes no zone away until that is confirmed', async () => {
  const { db } = database;
  await saveZones(
    db,
    names(110).map((name) => smallZone(name, 1)),
    BY,
  );
  const node = await follow({ nodeName: 'ns1' });
  await sql`update feed set epoch = gen_random_uuid()`.execute(db);
  await sql`delete from zones`.execute(db);
  await until(() => node.state().held?.zones === 110);
  expect(node.zones.size).toBe(110);
  await saveZones(
    db,
    names(109).map((name) => smallZone(name, 3)),
    BY,
  );
  await until(() => node.state().held?.zones === 1);
  expect(node.zones.get(parseName('z1.example.'))?.serial).toBe(3);
  expect(node.zones.get(parseName('z109.example.'))?.serial).toBe(1);
});
