// Calls at made-up times, by two processes: no 60 seconds have more than the rate, and nobody is refused without need.

import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CallWindows, WINDOW_MS } from '../../../src/store/accounts/call-windows.ts';
import { openDatabase } from '../../../src/store/postgres/database.ts';
import { asRole, createDatabase, type TestDatabase } from '../../support/database/database.ts';
import { scale } from '../../support/tests/scale.ts';

/** The most of these times that lie in any 60 seconds. */
function mostInAWindow(times: readonly number[]): number {
  return Math.max(
    0,
    ...times.map((from) => times.filter((at) => at >= from && at < from + WINDOW_MS).length),
  );
}

let database: TestDatabase;
let subjects = 0;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database?.drop());

it('no 60 seconds have more calls than the rate, and a refused one waits as long as it must', async () => {
  const second = openDatabase(asRole(database.url, 'zonefleet_api'));
  const gaps = fc.oneof(
    fc.constantFrom(0, 1, WINDOW_MS - 1, WINDOW_MS, WINDOW_MS + 1),
    fc.nat({ max: 20_000 }),
    fc.nat({ max: 2 * WINDOW_MS }),
  );
  const list = fc.array(gaps, { minLength: 5, maxLength: 40 });
  try {
    await fc.assert(
      fc.asyncProperty(list, fc.integer({ min: 1, max: 5 }), async (waits, rate) => {
        const subject = `key:${++subjects}`;
        const processes = [new CallWindows(database.db, rate), new CallWindows(second, rate)];
        const admitted: number[] = [];
        let now = 1_800_000_000_000;
        for (const [i, wait] of waits.entries()) {
          now += wait;
          const live = admitted.filter((at) => at > now - WINDOW_MS);
          const taken = await processes[i % 2]?.take(subject, now);
          const isRoom = live.length < rate;
          if (isRoom) admitted.push(now);
          const [oldest = now] = live;
          expect(taken).toEqual({
            admitted: isRoom,
            used: live.length + (isRoom ? 1 : 0),
            waitMs: oldest + WINDOW_MS - now,
          });
        }
        expect(mostInAWindow(admitted)).toBeLessThanOrEqual(rate);
      }),
      { numRuns: scale(25, 10) },
    );
  } finally {
    await second.destroy();
  }
});

it('of calls that come at once exactly the rate is let in', async () => {
  const windows = new CallWindows(database.db, 10);
  const taken = await Promise.all(Array.from({ length: 30 }, () => windows.take('key:once')));
  expect(taken.filter(({ admitted }) => admitted)).toHaveLength(10);
});

it('at a high rate few entries stand for many calls, and no window has too many', async () => {
  const rate = 1200;
  const windows = new CallWindows(database.db, rate);
  const admitted: number[] = [];
  const start = 1_800_000_000_000;
  for (let i = 0; i < 1500; i++) {
    const now = start + i * 45;
    const { admitted: isIn, waitMs: told } = await windows.take('key:high', now);
    const live = admitted.filter((at) => at > now - WINDOW_MS);
    if (isIn) admitted.push(now);
    else {
      const blocking = live[live.length - rate];
      const freeIn = blocking === undefined ? 0 : blocking + WINDOW_MS - now;
      expect(told).toBeGreaterThanOrEqual(freeIn);
      expect(told).toBeLessThanOrEqual(freeIn + 67);
    }
  }
  expect(mostInAWindow(admitted)).toBe(rate);
  const { rows } = await sql<{ entries: number; size: number }>`
      select cardinality(calls) as entries, pg_column_size(calls) as size from call_windows
      where subject = 'key:high'`.execute(database.db);
  expect(rows[0]?.entries).toBeLessThanOrEqual(900);
});

it('a lower rate than before waits until enough calls are over', async () => {
  const now = 1_800_000_000_000;
  const before = new CallWindows(database.db, 4);
  for (const at of [0, 1000, 2000, 3000]) await before.take('key:lower', now + at);
  const after = new CallWindows(database.db, 2);
  const refused = await after.take('key:lower', now + 4000);
  expect(refused).toEqual({ admitted: false, used: 4, waitMs: 2000 + WINDOW_MS - 4000 });
  expect((await after.take('key:lower', now + 2000 + WINDOW_MS)).admitted).toBe(true);
});

it('a clock that was set back by far shuts nobody out', async () => {
  const windows = new CallWindows(database.db, 1);
  const now = 1_800_000_000_000;
  await windows.take('key:back', now);
  expect((await windows.take('key:back', now - 10 * WINDOW_MS)).admitted).toBe(true);
});

it('whoever is quiet for some minutes is forgotten', async () => {
  const windows = new CallWindows(database.db, 1);
  await windows.take('key:old', Date.now() - 5 * WINDOW_MS);
  await windows.take('key:new');
  await windows.purge();
  const { rows } = await sql<{ subject: string }>`
      select subject from call_windows where subject in ('key:old', 'key:new')`.execute(database.db);
  expect(rows).toEqual([{ subject: 'key:new' }]);
});
