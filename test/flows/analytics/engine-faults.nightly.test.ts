// Inserts into the embedded analytics engine are durable and count once, even if the engine fails meanwhile.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { type Analytics, type AnalyticsFault, openAnalytics } from '../../../src/analytics/open-analytics.ts';
import { openKeptAnalytics } from '../../../src/start/keep-analytics.ts';
import { bruteForce, type Line, madeLines, rolledUp } from '../../support/analytics/made-lines.ts';
import { startAnalytics, type TestAnalytics } from '../../support/analytics/start-analytics.ts';
import { lacksSmallDisk, mountSmallDisk } from '../../support/database/small-disk.ts';
import { until } from '../../support/tests/until.ts';

const LIMIT = { seconds: 10 };
/** After more failures, it restarts after increasing pauses. */
const KILLS = 6;
const opened: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (let close = opened.pop(); close !== undefined; close = opened.pop()) await close();
});

async function started(options: Parameters<typeof startAnalytics>[0] = {}): Promise<{
  readonly store: TestAnalytics;
  readonly analytics: Analytics;
}> {
  const store = await startAnalytics(options);
  opened.push(() => store.stop());
  const analytics = openAnalytics(store.url);
  opened.push(() => analytics.close());
  return { store, analytics };
}

/** Repeats the insert with the same token until it succeeds, as a spool does. Returns the number of failures. */
async function insertUntilDone(analytics: Analytics, lines: readonly Line[], token: string): Promise<number> {
  let failed = 0;
  await until(async () => {
    try {
      await analytics.insert('requests', lines, token);
      return true;
    } catch (error) {
      expect((error as AnalyticsFault).kind).not.toBe('refused');
      failed++;
      await pause(50);
      return false;
    }
  }, 'the insert goes through');
  return failed;
}

async function expectExact(analytics: Analytics, lines: readonly Line[]): Promise<void> {
  const domainId = lines[0]?.domain_id as number;
  const wanted = bruteForce(lines);
  const { hours, values, uris } = await rolledUp(analytics, domainId);
  expect(hours).toEqual(wanted.hours);
  expect(values).toEqual(wanted.values);
  expect(uris).toEqual(wanted.uris);
  const sql = 'SELECT count() AS n, sum(octets) AS octets FROM requests WHERE domain_id = {id:UInt64}';
  const octets = lines.reduce((sum, line) => sum + line.octets, 0);
  expect(await analytics.query(sql, { id: domainId }, LIMIT)).toEqual([{ n: lines.length, octets }]);
}

it('an engine that is killed during inserts loses no line, and counts none twice', async () => {
  const { store, analytics } = await started();
  const lines = madeLines({ domainId: 1, count: 30_000, days: 2 });
  let isOver = false;
  let kills = 0;
  const killing = (async () => {
    while (!isOver && kills < KILLS) {
      await pause(200 + Math.random() * 1500);
      const before = store.pid();
      store.kill();
      kills++;
      await until(() => isOver || store.pid() !== before);
    }
  })();
  let failed = 0;
  for (let at = 0; at < lines.length; at += 1500) {
    const batch = lines.slice(at, at + 1500);
    failed += await insertUntilDone(analytics, batch, `batch-${at}`);
    if (at % 4500 === 0) failed += await insertUntilDone(analytics, batch, `batch-${at}`);
  }
  isOver = true;
  await killing;
  expect(kills).toBeGreaterThan(1);
  expect(failed).toBeGreaterThan(0);
  await until(async () => analytics.query('SELECT 1', {}, LIMIT).catch(() => false as const));
  await expectExact(analytics, lines);
});

// Every response may be lost, including those of the process that created the tables: decision 21.
it('a repeated insert after a kill is recognized by the raw lines and by every rollup', async () => {
  const { store, analytics } = await started();
  const lines = madeLines({ domainId: 6, count: 1000, days: 2 });
  await analytics.insert('requests', lines, 'first');
  const minutes = 'SELECT sum(requests) AS n, sum(failures) AS failed FROM origins_minutely';
  const before = await analytics.query(minutes, {}, LIMIT);
  await store.restart();
  await analytics.insert('requests', lines, 'first');
  await expectExact(analytics, lines);
  expect(await analytics.query(minutes, {}, LIMIT)).toEqual(before);
});

it('a hanging engine is killed and restarted, and pending inserts succeed', async () => {
  const { store, analytics } = await started({ hungMs: 2000 });
  const lines = madeLines({ domainId: 2, count: 3000, days: 1 });
  await insertUntilDone(analytics, lines.slice(0, 1000), 'first');
  const hung = store.pid();
  store.signal('SIGSTOP');
  await insertUntilDone(analytics, lines.slice(1000), 'second');
  expect(store.pid()).not.toBe(hung);
  expect(store.told).toContainEqual(expect.stringContaining('did not respond for 2 s and was killed'));
  await expectExact(analytics, lines);
});

it('accepts a directory whose path is too long for a socket', async () => {
  const home = mkdtempSync(join(tmpdir(), 'zf-analytics-'));
  opened.push(() => rmSync(home, { recursive: true, force: true }));
  const directory = join(home, 'x'.repeat(60), 'y'.repeat(60));
  mkdirSync(directory, { recursive: true });
  const { analytics } = await started({ directory });
  const lines = madeLines({ domainId: 5, count: 100, days: 1 });
  await insertUntilDone(analytics, lines, 'first');
  await expectExact(analytics, lines);
});

it('an engine that has not started yet is unavailable, and accepts later inserts', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'zf-analytics-'));
  opened.push(() => rmSync(directory, { recursive: true, force: true }));
  const root = resolve(import.meta.dirname, '../../..');
  const kept = await openKeptAnalytics({
    root,
    places: [join(root, 'node_modules/.cache/zonefleet-analytics')],
    directory,
    password: 'test',
    memoryBytes: 1024 ** 3,
    npmEnv: process.env,
    env: process.env,
    say: () => {},
  });
  opened.push(() => kept.stop());
  const analytics = openAnalytics(kept.url);
  opened.push(() => analytics.close());
  const lines = madeLines({ domainId: 3, count: 1000, days: 1 });
  const early = await analytics.insert('requests', lines, 'one').catch((error: AnalyticsFault) => error.kind);
  expect(early).toBe('absent');
  expect(kept.pid()).toBe(undefined);
  void kept.keep();
  await insertUntilDone(analytics, lines, 'one');
  await expectExact(analytics, lines);
});

it.skipIf(lacksSmallDisk() !== undefined)(
  'a full disk is reported as unavailable, and the same insert succeeds once there is space',
  async () => {
    const disk = mountSmallDisk(tmpdir(), 48);
    opened.push(() => disk.remove());
    const { analytics } = await started({ directory: disk.tablespace });
    const lines = madeLines({ domainId: 4, count: 4000, days: 1 });
    await insertUntilDone(analytics, lines.slice(0, 2000), 'first');
    disk.fill();
    const full = await analytics
      .insert('requests', lines.slice(2000), 'second')
      .catch((error: AnalyticsFault) => error);
    expect(full).toMatchObject({ kind: 'away' });
    expect(await analytics.query('SELECT count() AS n FROM requests', {}, LIMIT)).toHaveLength(1);
    disk.clear();
    await insertUntilDone(analytics, lines.slice(2000), 'second');
    await expectExact(analytics, lines);
  },
);
