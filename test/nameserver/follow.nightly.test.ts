import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseName, printName } from '../../src/dns/name.ts';
import { AskedZones } from '../../src/nameserver/follow/asked-zones.ts';
import { PositionReporter } from '../../src/nameserver/follow/report-position.ts';
import {
  type ImageThread,
  type ImageThreadOptions,
  startImageThread,
  type WatchOptions,
} from '../../src/nameserver/follow/start-image-thread.ts';
import { AskedMarks } from '../../src/nameserver/image/find/asked-marks.ts';
import { createImage, Image } from '../../src/nameserver/image/image.ts';
import { HEADER } from '../../src/nameserver/image/layout.ts';
import { readRestoreNote } from '../../src/nameserver/snapshot/restore-note.ts';
import { claimNodeName, listNodes, type NodeReport } from '../../src/store/feed/nodes.ts';
import { connect } from '../../src/store/postgres/connection.ts';
import { saveZones, unloadZones } from '../../src/store/zones/save-zones.ts';
import { createDatabase, type TestDatabase } from '../support/database/database.ts';
import { collectingLog, type LogLine, smallZone } from '../support/processes/follow.ts';
import { resealBase } from '../support/processes/reseal-base.ts';
import { startProxy, type TcpProxy } from '../support/processes/tcp-proxy.ts';
import { until } from '../support/tests/until.ts';
import { readZone } from '../support/zone/read-zone.ts';

function nodeReport(name: string): NodeReport {
  return {
    name,
    instance: randomUUID(),
    startedAt: new Date(),
    loaded: true,
    epoch: undefined,
    position: undefined,
    snapshot: undefined,
    zones: 1,
    records: 3,
    held: undefined,
    unserved: [],
    abilities: [],
    version: '1.2.3',
    traffic: { answered: 5, dropped: 2 },
    image: { used: 0, capacity: 1 },
  };
}

describe('a node', () => {
  let database: TestDatabase;
  let proxy: TcpProxy;

  beforeEach(async () => {
    database = await createDatabase();
    proxy = await startProxy(database.url);
  });
  afterEach(async () => {
    await proxy.stop();
    await database.drop();
  });

  function reporter(databaseUrl = proxy.url) {
    const log = collectingLog();
    // The longest possible name: application names are truncated at 63 octets.
    const report = nodeReport(`ams1-${'x'.repeat(58)}`);
    const asked = new AskedZones();
    const options = { databaseUrl, nodeName: report.name, log, report: () => report, asked };
    return { report, log, asked, reporter: new PositionReporter(options) };
  }
  const listed = async () => (await listNodes(database.db))[0];

  test('ends its own session after the connection was cut silently, and continues to report', async () => {
    const node = reporter();
    await node.reporter.start();
    await until(async () => (await listed())?.state === 'live', 'it is listed');
    const { version, traffic, image } = node.report;
    expect(await listed()).toMatchObject({ version, traffic, image });
    proxy.forget();
    node.report.position = 42;
    // Without it, the server would never notice: a unix socket has no keepalives.
    await until(async () => (await listed())?.position === 42, 'it reports on');
    expect(node.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
    await node.reporter.stop();
    expect((await listed())?.state).toBe('left');
  });

  test('starts while a session that reports nothing holds its name, and reports after that session ends', async () => {
    const node = reporter();
    const left = await connect(database.url, { applicationName: 'left behind' });
    expect(await claimNodeName(left, { ...node.report, instance: randomUUID() })).toBe('claimed');
    await node.reporter.start();
    expect(node.log.lines.map(({ message }) => message)).toContainEqual(
      expect.stringContaining('a session that reports nothing holds the name'),
    );
    expect(await listed()).toBeUndefined();
    await left.close();
    await until(async () => (await listed())?.state === 'live', 'it is listed');
    await node.reporter.stop();
  });

  test("does not end another process's session under its name, and logs it", async () => {
    const [first, second] = [reporter(database.url), reporter()];
    proxy.cut();
    await second.reporter.start(); // the primary is unreachable, so it retries
    await first.reporter.start();
    proxy.resume();
    await until(
      () => second.log.lines.some(({ message }) => message === 'another process uses the name of this node'),
      'the other one is logged',
    );
    first.report.position = 7;
    await until(async () => (await listed())?.position === 7, 'the first one reports on');
    expect(first.log.lines).toEqual([]);
    await first.reporter.stop();
    second.report.position = 8;
    await until(async () => (await listed())?.position === 8, 'the second one follows');
    await second.reporter.stop();
  });
});

const BY = { source: 'test' } as const;
const A = parseName('a.example.');
let database: TestDatabase;
let proxy: TcpProxy;
let directory: string;
let threads: ImageThread[];

beforeEach(async () => {
  database = await createDatabase();
  proxy = await startProxy(database.url);
  directory = mkdtempSync(join(tmpdir(), 'zf-image-thread-'));
  threads = [];
});

afterEach(async () => {
  await Promise.all(threads.map((thread) => thread.stop()));
  await proxy.stop();
  await database.drop();
  rmSync(directory, { recursive: true, force: true });
});

interface Started extends ImageThread {
  readonly lines: LogLine[];
  readonly ends: Error[];
  serial(): number | undefined;
}

function start(options: Partial<ImageThreadOptions> = {}, watch: WatchOptions = {}): Started {
  const buffer = createImage(16 << 20, 77);
  const log = collectingLog();
  const ends: Error[] = [];
  const given = {
    buffer,
    asked: new AskedMarks().buffer,
    databaseUrl: proxy.url,
    readUrl: undefined,
    nodeName: 'ns1',
    snapshotDirectory: directory,
  };
  const thread = startImageThread({ ...given, ...options }, log, (error) => ends.push(error), watch);
  threads.push(thread);
  // Opens the image again each time: a snapshot has its own hash seed.
  const serial = () => readZone(new Image(buffer), A)?.serial;
  return { ...thread, lines: log.lines, ends, serial };
}

test('without Postgres, zones come from the snapshot, and missed changes are loaded later', async () => {
  await saveZones(database.db, [smallZone('a.example.', 1), smallZone('b.example.', 1)], BY);
  const first = start();
  await until(() => first.lines.some(({ message }) => message === 'snapshot written'));
  await saveZones(database.db, [smallZone('a.example.', 2)], BY);
  await until(() => first.serial() === 2);
  await first.stop();
  proxy.cut();
  await saveZones(database.db, [smallZone('a.example.', 3)], BY);
  await unloadZones(database.db, [parseName('b.example.')], BY);
  const second = start();
  expect(await second.restored).toMatchObject({ isServing: true });
  expect(second.serial()).toBe(2);
  await second.started;
  expect(second.state()).toMatchObject({ loaded: true, zones: 2, connected: false, lagSeconds: 0 });
  const reports: string[] = [];
  second.onZones(({ zones }) => reports.push(zones.map(({ apex }) => printName(apex)).join()));
  proxy.resume();
  await until(() => second.serial() === 3 && second.state()?.zones === 1);
  second.watch(true); // only now, but earlier changes are reported, too
  await until(() => reports.length === 1, 'changed');
  await saveZones(database.db, [smallZone('c.example.', 1)], BY);
  await until(() => reports.length === 2, 'changed');
  second.watch(false);
  await saveZones(database.db, [smallZone('a.example.', 4)], BY);
  await until(() => second.serial() === 4);
  expect(reports).toEqual(['a.example.', 'c.example.']);
  expect(second.lines.some(({ message }) => message === 'zones loaded')).toBe(false);
});

test('an unexpected end of the thread is reported', async () => {
  const thread = start({ buffer: new SharedArrayBuffer(1 << 20) });
  await until(() => thread.ends.length > 0);
  expect(thread.ends[0]?.message).toContain('not a zone image');
  const asked = start();
  await asked.started;
  await asked.stop();
  expect(asked.ends).toEqual([]);
});

test('a thread without progress is ended, and the snapshot that it was reading is recorded', async () => {
  const entry = new URL('../support/processes/stuck-image-thread.mjs', import.meta.url);
  const stuck = start({}, { entry, checkMs: 50 });
  await until(() => stuck.progress.doing === 'reading the snapshot');
  await until(() => stuck.ends.length > 0);
  expect(stuck.ends.map(({ message }) => message)).toEqual([
    'the zone image thread made no progress while it was reading the snapshot',
  ]);
  expect(stuck.lines).toMatchObject([{ level: 'error', fields: { doing: 'reading the snapshot' } }]);
  expect(readRestoreNote(directory)).toMatchObject({ generation: 1, attempts: 1, isStuck: true });
});

test('a snapshot with a fault ends the thread that serves it, and the next one loads the zones from Postgres', async () => {
  await saveZones(database.db, [smallZone('a.example.', 1)], BY);
  const first = start();
  await until(() => first.lines.some(({ message }) => message === 'snapshot written'));
  await first.stop();
  resealBase(join(directory, 'zones.1.image'), ({ header }) => header.writeInt32LE(5, HEADER.ZONES * 4));
  const second = start({ answersFirst: true });
  expect(await second.restored).toMatchObject({ isServing: true });
  expect(second.serial()).toBe(1);
  await pause(100); // the check does not start before `answering`
  expect(second.ends).toEqual([]);
  second.answering();
  await until(() => second.ends.length > 0);
  expect(second.ends[0]?.message).toContain('is not valid: its sums are wrong');
  const third = start();
  expect(await third.restored).toMatchObject({ isServing: false });
  await until(() => third.state()?.zones === 1);
  expect(third.lines.map(({ message }) => message)).toContain(
    'a snapshot is ignored: the zones are loaded from Postgres',
  );
});

test('a thread that waits for a database that never answers is not ended', async () => {
  proxy.cut();
  const waiting = start({}, { checkMs: 50 });
  await waiting.restored;
  await until(() => waiting.progress.doing === 'waiting');
  await until(() => waiting.state()?.fault !== undefined);
  expect(waiting.state()?.fault).toMatch(/terminated|ECONN/);
  expect(waiting.ends).toEqual([]);
});
