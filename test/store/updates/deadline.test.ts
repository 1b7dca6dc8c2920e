import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Connection } from '../../../src/store/postgres/connection.ts';
import { DatabaseClock } from '../../../src/store/updates/deadline.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

/** A database whose clock is 1,000,000 ms ahead, and which is read after `readMs`. Replies take `replyMs` more. */
function database(readMs: number, replyMs: number) {
  const query = vi.fn(async () => {
    await vi.advanceTimersByTimeAsync(readMs);
    const databaseMs = performance.now() + 1_000_000;
    await vi.advanceTimersByTimeAsync(replyMs);
    return [[databaseMs]];
  });
  return { query, connection: { query } as unknown as Connection };
}

test.each([
  ['again after 10 s', 2, 3, 1],
  ['each time if the database is slow, and its time is never too late', 100, 400, 3],
])('DatabaseClock measures %s', async (_, readMs, replyMs, measured) => {
  const clock = new DatabaseClock();
  const { query, connection } = database(readMs, replyMs);
  for (let i = 0; i < 3; i++) expect(await clock.offsetMs(connection)).toBe(1_000_000 - replyMs);
  expect(query).toHaveBeenCalledTimes(measured);
  await vi.advanceTimersByTimeAsync(10_000);
  await clock.offsetMs(connection);
  expect(query).toHaveBeenCalledTimes(measured + 1);
});

test('DatabaseClock measures again on another connection', async () => {
  const clock = new DatabaseClock();
  const connections = [database(0, 0), database(0, 0)];
  for (const { connection } of connections) await clock.offsetMs(connection);
  expect(connections[1]?.query).toHaveBeenCalledTimes(1);
});
