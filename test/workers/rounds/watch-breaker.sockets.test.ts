import { afterEach, expect, test } from 'vitest';
import { freezeMoves, loadBreaker, releaseTrip } from '../../../src/store/checks/breaker-store.ts';
import { openDatabase } from '../../../src/store/postgres/database.ts';
import { type BreakerChange, BreakerWatch } from '../../../workers/rounds/watch-breaker.ts';
import { startProxy } from '../../support/processes/tcp-proxy.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { until } from '../../support/tests/until.ts';

const { db, url, query } = sharedDatabase();
const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (let close = opened.pop(); close !== undefined; close = opened.pop()) await close();
});

async function watch(own = db) {
  const changes: BreakerChange[] = [];
  const troubles: Error[] = [];
  const breaker = new BreakerWatch(own, {
    intervalMs: 20,
    onChange: (change) => changes.push(change),
    onTrouble: (error) => troubles.push(error),
  });
  await breaker.start();
  opened.push(() => breaker.stop().catch(() => {}));
  return { breaker, changes, troubles };
}

function count(breaker: BreakerWatch, parent: string, checked: number, turned: number): void {
  for (let i = 0; i < checked; i++) breaker.count(parent, 'match', i < turned ? 'foreign' : 'match');
}

async function releaseAll(): Promise<void> {
  for (const { id } of (await loadBreaker(db)).trips) await releaseTrip(db, id, 'ann');
}

const counted = async () =>
  await query<{ parent: string; checked: number; turned: number }>`
      select parent, sum(checked)::int as checked, sum(turned)::int as turned from check_counts
      group by parent order by parent`;

test('the counts of any worker hold the status changes of that parent in all workers, until the trip ends', async () => {
  const [one, two] = [await watch(), await watch()];
  count(one.breaker, 'com.', 20, 12);
  count(two.breaker, 'com.', 20, 12);
  count(two.breaker, 'org.', 500, 1);
  await until(() => one.breaker.isFrozen('com.') && two.breaker.isFrozen('com.'));
  expect(one.breaker.isFrozen('org.')).toBe(false);
  expect(one.breaker.held()).toBe(1);
  expect([...one.changes, ...two.changes]).toEqual([
    { parent: 'com.', checked: 40, turned: 24, ended: false },
  ]);
  await query`update check_counts set minute = minute - interval '20 minutes'`;
  await until(() => !one.breaker.isFrozen('com.') && !two.breaker.isFrozen('com.'));
  await until(() => one.changes.length + two.changes.length === 2);
  expect([...one.changes, ...two.changes].filter(({ ended }) => ended)).toHaveLength(1);
});

test('if too many domains change, all status changes are held until an operator releases them', async () => {
  const { breaker } = await watch();
  for (let i = 0; i < 25; i++) count(breaker, `parent${i}.`, 1, 1);
  await until(() => breaker.isFrozen('elsewhere.'));
  await releaseAll();
  await until(() => !breaker.isFrozen('elsewhere.'));
  expect(breaker.held()).toBe(0);
});

test('a parent that an operator froze is held in every worker until it is released, regardless of counts', async () => {
  const [one, two] = [await watch(), await watch()];
  await freezeMoves(db, { parent: 'com.', reason: 'a test', by: 'ann', until: undefined });
  await until(() => one.breaker.isFrozen('com.') && two.breaker.isFrozen('com.'));
  expect(one.breaker.isFrozen('org.')).toBe(false);
  expect(one.breaker.held()).toBe(1);
  // The checks trip it too, and then end: only that trip ends.
  count(one.breaker, 'com.', 40, 30);
  await until(() => one.changes.length + two.changes.length > 0);
  await query`update check_counts set minute = minute - interval '20 minutes'`;
  await until(() => [...one.changes, ...two.changes].some(({ ended }) => ended));
  expect((await loadBreaker(db)).trips).toMatchObject([{ parent: 'com.', frozenBy: 'ann' }]);
  expect(one.breaker.isFrozen('com.') && two.breaker.isFrozen('com.')).toBe(true);
  await releaseAll();
  await until(() => !one.breaker.isFrozen('com.') && !two.breaker.isFrozen('com.'));
});

test('a freeze of all domains holds every status change until it ends, and starts no trip', async () => {
  const { breaker, changes } = await watch();
  await freezeMoves(db, { parent: '', reason: 'a test', by: 'ann', until: undefined });
  await until(() => breaker.isFrozen('anything.'));
  // Enough to continue a trip, but not to start one.
  for (let i = 0; i < 30; i++) breaker.count('com.', 'foreign', 'foreign');
  await until(async () => (await counted()).length === 1);
  await query`update breaker_trips set frozen_until = clock_timestamp(), ended_at = clock_timestamp()`;
  await until(() => !breaker.isFrozen('anything.'));
  expect([breaker.held(), changes]).toEqual([0, []]);
});

test('counts are kept while Postgres is unavailable, and shared once, the last ones at the end', async () => {
  const proxy = await startProxy(url);
  opened.push(() => proxy.stop());
  const db = openDatabase(proxy.url, { connectTimeoutMs: 500 });
  opened.push(() => db.destroy());
  const { breaker, troubles } = await watch(db);
  proxy.cut();
  count(breaker, 'com.', 10, 3);
  await until(() => troubles.length > 1);
  count(breaker, 'com.', 5, 1);
  proxy.resume();
  await until(async () => (await counted()).length === 1);
  expect(await counted()).toEqual([{ parent: 'com.', checked: 15, turned: 4 }]);
  count(breaker, 'net.', 1, 0);
  await breaker.stop();
  expect(await counted()).toContainEqual({ parent: 'net.', checked: 1, turned: 0 });
});

test('continues until most of the changed domains are back', async () => {
  const { breaker, changes } = await watch();
  count(breaker, 'com.', 40, 40);
  await until(() => breaker.isFrozen('com.'));
  await query`update check_counts set turned = 0`;
  // Each is shared in its own round: the second one comes after the first is evaluated.
  for (const told of [45, 50]) {
    for (let i = 0; i < 5; i++) breaker.count('com.', 'foreign', 'foreign');
    await until(async () => (await counted()).some(({ checked }) => checked === told));
  }
  expect(changes.filter(({ ended }) => ended)).toEqual([]);
  for (let i = 0; i < 60; i++) breaker.count('com.', 'foreign', 'match');
  await until(() => !breaker.isFrozen('com.'));
});
