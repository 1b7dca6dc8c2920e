import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { backoffMs, runRounds } from '../../src/jobs/run-rounds.ts';
import { until } from '../support/tests/until.ts';

afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

test('the next round starts immediately while there is more to do, whatever the idle time is', async () => {
  let rounds = 0;
  const running = runRounds({
    round: async () => ({ isMore: ++rounds < 3 }),
    idleMs: 3_600_000,
    onTrouble: () => {},
  });
  await until(() => rounds === 3);
  await running.stop();
  expect(rounds).toBe(3);
});

test('the pause after failures doubles with each consecutive one, up to ten seconds', () => {
  expect([1, 2, 3, 4].map((failures) => backoffMs(500, failures))).toEqual([1000, 2000, 4000, 8000]);
  expect([5, 6, 2000].map((failures) => backoffMs(500, failures))).toEqual([10_000, 10_000, 10_000]);
});

test('a failed round is reported and repeated, after increasing pauses', async () => {
  const happened: unknown[] = [];
  const troubles: string[] = [];
  vi.spyOn(timers, 'setTimeout').mockImplementation(async (ms) => void happened.push(ms));
  syncBuiltinESMExports();
  const running = runRounds({
    async round() {
      happened.push('round');
      if (happened.length > 7) void running.stop();
      throw new Error('away');
    },
    idleMs: 20,
    onTrouble: (error) => troubles.push(String(error)),
  });
  await vi.waitFor(() => expect(happened).toHaveLength(10));
  expect(happened).toEqual(['round', 40, 'round', 80, 'round', 160, 'round', 320, 'round', 640]);
  expect(troubles).toEqual(Array(5).fill('Error: away'));
});

test('a stop waits for the running round, and no other starts', async () => {
  let rounds = 0;
  let finish: () => void = () => {};
  const running = runRounds({
    async round() {
      rounds++;
      await new Promise<void>((done) => {
        finish = done;
      });
      return { isMore: true };
    },
    idleMs: 1,
    onTrouble: () => {},
  });
  await until(() => rounds === 1);
  let isStopped = false;
  const stopped = running.stop().then(() => {
    isStopped = true;
  });
  await Promise.resolve();
  expect(isStopped).toBe(false);
  finish();
  await stopped;
  expect(rounds).toBe(1);
});
