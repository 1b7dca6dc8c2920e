// Counts that nodes report reach the analytics store exactly once, even if a process is killed on the way.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Analytics, openAnalytics } from '../../../src/analytics/open-analytics.ts';
import { parseName } from '../../../src/dns/name.ts';
import { moveDnsCounts } from '../../../src/features/analytics/job.ts';
import { reportDnsCounts } from '../../../src/store/feed/report-counts.ts';
import { type Connection, connect } from '../../../src/store/postgres/connection.ts';
import { type Database, openDatabase } from '../../../src/store/postgres/database.ts';
import { startAnalytics, type TestAnalytics } from '../../support/analytics/start-analytics.ts';
import { asRole } from '../../support/database/database.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { until } from '../../support/tests/until.ts';

let engine: TestAnalytics;
let store: Analytics;
const { db, url, query } = sharedDatabase();
let worker: Database;
let node: Connection;
let zoneId: number;
let domainId: number;

beforeAll(async () => {
  engine = await startAnalytics();
  store = openAnalytics(engine.url);
  worker = openDatabase(asRole(url, 'zonefleet_worker'));
  node = await connect(asRole(url, 'zonefleet_node'), { applicationName: 'test' });
});
afterAll(async () => {
  await node?.close();
  await worker?.destroy();
  await store.close();
  await engine.stop();
});
beforeEach(async () => {
  await newDomain(db, await newAccount(db, 'a@example.org'), 'one.example.');
  const rows = await query<{ id: number; zoneId: number }>`
    select id, zone_id as "zoneId" from domains`;
  domainId = rows[0]!.id;
  zoneId = rows[0]!.zoneId;
});
const SECONDS = { seconds: 20 };
const MINUTE = 60_000;
const instance = randomUUID();
let part = 0;

/** A report of three queries. */
async function report(): Promise<void> {
  await reportDnsCounts(node, {
    ...{ node: 'ams1', instance, part: part++, minuteMs: Math.floor(Date.now() / MINUTE) * MINUTE },
    ...{ zoneIds: [zoneId, zoneId], types: [1, 28], rcodes: [0, 3], counts: [2, 1] },
    names: [{ zoneId, name: parseName('www.one.example.'), count: 256 }],
  });
}
const waiting = async () =>
  (await query<{ n: number }>`select count(*) as n from dns_counts where moved_at is null`)[0]!.n;
const sumOf = async (table: string): Promise<number> => {
  const [row] = await store.query<{ n: number }>(
    `SELECT sum(count) AS n FROM ${table} WHERE domain_id = {d:UInt64}`,
    { d: domainId },
    SECONDS,
  );
  return (row as { n: number }).n;
};
const sums = async () => [
  await sumOf('dns_minutely'),
  await sumOf('dns_hourly'),
  await sumOf('dns_names_daily'),
];

test('counts arrive by minute and hour, and names by day', async () => {
  for (let i = 0; i < 40; i++) await report();
  const rounds = moveDnsCounts({ db: worker, store, onTrouble: fail, idleMs: 20 });
  await until(async () => (await waiting()) === 0, 'all are moved');
  await rounds.stop();
  expect(await sums()).toEqual([120, 120, 40 * 256]);
  const rows = await store.query(
    'SELECT type, rcode, node, sum(count) AS count FROM dns_hourly WHERE domain_id = {d:UInt64} GROUP BY ALL ORDER BY type',
    { d: domainId },
    SECONDS,
  );
  expect(rows).toEqual([
    { type: 1, rcode: 0, node: 'ams1', count: 80 },
    { type: 28, rcode: 3, node: 'ams1', count: 40 },
  ]);
});

test('a crash at any point of the insert counts nothing twice', async () => {
  for (let i = 0; i < 40; i++) await report();
  let inserts = 0;
  const faults: unknown[] = [];
  // Every insert arrives, and most of them report a failure.
  const failing: Analytics = {
    ...store,
    async insert(...insert) {
      await store.insert(...insert);
      if (inserts++ % 5 < 3) throw new Error('the connection broke behind the insert');
    },
  };
  const rounds = moveDnsCounts({ db: worker, store: failing, onTrouble: (e) => faults.push(e), idleMs: 5 });
  const other = moveDnsCounts({ db: worker, store: failing, onTrouble: (e) => faults.push(e), idleMs: 5 });
  await until(async () => (await waiting()) === 0, 'all are moved');
  await Promise.all([rounds.stop(), other.stop()]);
  expect(faults.length).toBeGreaterThan(3);
  expect(await sums()).toEqual([120, 120, 40 * 256]);
});

function fail(error: unknown): void {
  throw error;
}
