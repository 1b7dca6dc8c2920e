// Mails at 80 and 100 % of the traffic that a plan includes, with the rights of workers, from log lines in the
// embedded engine.

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Analytics, openAnalytics } from '../../../src/analytics/open-analytics.ts';
import { mailTraffic, measureTraffic } from '../../../src/features/analytics/job.ts';
import { deleteDomain } from '../../../src/store/change/save-domain.ts';
import { type Database, openDatabase } from '../../../src/store/postgres/database.ts';
import { startAnalytics, type TestAnalytics } from '../../support/analytics/start-analytics.ts';
import { asRole } from '../../support/database/database.ts';
import { BY, newAccount, newDomain } from '../../support/database/domains.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { until } from '../../support/tests/until.ts';

const GB = 1_000_000_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** All subscriptions start here, with 100 GB per period of 30 days. */
const START = new Date(Math.floor(Date.now() / DAY_MS - 50) * DAY_MS + 10.5 * HOUR_MS);
const day = (days: number) => new Date(START.getTime() + days * DAY_MS);

let engine: TestAnalytics;
let store: Analytics;
const { db, url, query } = sharedDatabase();
let worker: Database;
let ids: readonly [number, number, number];
let batches = 0;

beforeAll(async () => {
  engine = await startAnalytics();
  store = openAnalytics(engine.url);
  worker = openDatabase(asRole(url, 'zonefleet_worker'));
  await query`update plans set max_traffic_gb = 100`;
});
afterAll(async () => {
  await worker?.destroy();
  await store?.close();
  await engine?.stop();
});
beforeEach(async () => {
  const ann = await newAccount(db, 'ann@example.org');
  const bob = await newAccount(db, 'bob@example.org');
  const one = await newDomain(db, ann, 'one.example.');
  const two = await newDomain(db, bob, 'two.example.');
  const three = await newDomain(db, ann, 'three.example.');
  ids = [one.id, two.id, three.id];
  await query`update subscriptions set started_at = ${START}, quota_reset_days = 30`;
});
/** Traffic of a domain at a time. */
async function serve(domainId: number, at: Date, gb: number): Promise<void> {
  const request = { edge_id: 1, host: 'www', method: 'GET', uri: '/', client: '192.0.2.0', visitor: '1' };
  const clickTime = at.toISOString().slice(0, -1).replace('T', ' ');
  const row = { ...request, domain_id: domainId, at: clickTime, ms: 1, status: 200, octets: gb * GB };
  await store.insert('requests', [row], `${engine.url} ${batches++}`);
}

/** Returns the mails since the last call, such as `one 80`, by their message. */
async function mails(): Promise<string[]> {
  const rows = await query<{ to: string; name: string; message: string }>`
    with taken as (delete from mails where kind = 'traffic' returning *)
    select split_part(t.email, '@', 1) as to, split_part(d.name, '.', 1) as name, t.message
    from taken t join domains d on d.id = t.domain_id order by t.id`;
  return rows.map(({ to, name, message }) => `${to}: ${name} ${/\((\d+) %\)/.exec(message)?.[1] ?? message}`);
}

test('an owner is notified once at 80 and once at 100 % in each period', async () => {
  const [one, two] = ids;
  const tell = async (at: Date) => {
    await measureTraffic(worker, store, at);
    return await mails();
  };
  await serve(one, day(1), 79);
  await serve(two, day(1), 12);
  expect(await tell(day(2))).toEqual([]);
  await serve(one, day(2), 1);
  expect(await tell(day(3))).toEqual(['ann: one 80']);
  await serve(one, day(3), 19.5);
  expect(await tell(day(4))).toEqual([]);
  await serve(one, day(4), 0.5);
  expect(await tell(day(5))).toEqual(['ann: one 100']);
  await serve(one, day(5), 300);
  expect(await tell(day(6))).toEqual([]);
  expect(await tell(day(29.9))).toEqual([]);
  expect(await tell(day(32))).toEqual([]);
  await serve(one, day(33), 85);
  expect(await tell(day(34))).toEqual(['ann: one 85']);
  expect(await tell(day(29.9))).toEqual([]); // a clock that goes back causes no more mails
});

test('the traffic of an ended period is reported within a day, before that of the new one', async () => {
  const [one, two] = ids;
  await serve(one, day(29.9), 90);
  await serve(two, day(29.9), 90);
  await serve(one, day(30.1), 100);
  await measureTraffic(worker, store, day(30.2));
  expect(await mails()).toEqual(['ann: one 90', 'bob: two 90', 'ann: one 100']);
  await serve(two, day(29.8), 20);
  expect(await measureTraffic(worker, store, day(30.9))).toBe(1);
  expect(await mails()).toEqual(['bob: two 110']);
});

test('only limits are reported, with the subscription’s overrides', async () => {
  const [one, two, three] = ids;
  await query`
    update subscriptions set overrides = jsonb_build_object('max_traffic_gb', null) where domain_id = ${one}`;
  await query`update subscriptions set overrides = jsonb_build_object('max_traffic_gb', 0) where domain_id <> ${one}`;
  await serve(one, day(1), 5000);
  await serve(three, day(1), 1);
  expect(await measureTraffic(worker, store, day(2))).toBe(1);
  expect(await mails()).toEqual([
    expect.stringMatching(/^ann: three From .* used 1\.0 GB of the 0 GB .* includes\.$/),
  ]);
  expect((await deleteDomain(db, { ...BY, domainId: two })).kind).toBe('deleted');
  await serve(two, day(1), 1);
  expect(await measureTraffic(worker, store, day(2))).toBe(0);
});

test('an interrupted round is completed by the next one, and no mail is sent twice', async () => {
  for (const id of ids) await serve(id, day(1), 80);
  let answers = 0;
  const failing: Pick<Analytics, 'query'> = {
    async query(...query) {
      if (answers++ === 1) throw new Error('the store is away');
      return await store.query(...query);
    },
  };
  await expect(measureTraffic(worker, failing, day(2), 1)).rejects.toThrow('the store is away');
  expect(await mails()).toEqual(['ann: one 80']);
  expect(await measureTraffic(worker, failing, day(2), 1)).toBe(2);
  expect(await mails()).toEqual(['bob: two 80', 'ann: three 80']);
});

test('two workers send no mail twice, and check all domains once in five minutes', async () => {
  for (const id of ids) await serve(id, day(1), 80);
  await Promise.all(Array.from({ length: 4 }, () => measureTraffic(worker, store, day(2))));
  expect((await mails()).sort()).toEqual(['ann: one 80', 'ann: three 80', 'bob: two 80']);
  for (const id of ids) await serve(id, day(1), 20);
  let looked = 0;
  const clock = async () => {
    looked++;
    return day(2);
  };
  const told: number[] = [];
  const troubles: unknown[] = [];
  const options = { db: worker, store, clock, onMailed: (n: number) => told.push(n), idleMs: 5 };
  const rounds = [1, 2].map(() => mailTraffic({ ...options, onTrouble: (error) => troubles.push(error) }));
  await until(() => told.length === 1, 'the first round');
  expect(looked).toBe(1);
  await query`update traffic_round set due_at = now()`;
  await until(() => looked === 2, 'the next round');
  await Promise.all(rounds.map((each) => each.stop()));
  expect([told, looked, troubles]).toEqual([[3], 2, []]);
  expect((await mails()).sort()).toEqual(['ann: one 100', 'ann: three 100', 'bob: two 100']);
});
