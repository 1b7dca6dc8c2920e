import { expect, test } from 'vitest';
import type { Connection } from '../../../src/store/postgres/connection.ts';
import { DatabaseClock } from '../../../src/store/updates/deadline.ts';

const AHEAD_MS = 1_000_000;

/** A clock, and a database whose clock is ahead of it. A query takes `queryMs`, and its reply `replyMs` more. */
function measured({ queryMs, replyMs }: { queryMs: number; replyMs: number }) {
  const state = { nowMs: 0, queries: 0 };
  const clock = new DatabaseClock(() => state.nowMs);
  const query = async () => {
    state.queries++;
    state.nowMs += queryMs;
    const databaseMs = state.nowMs + AHEAD_MS;
    state.nowMs += replyMs;
    return [[databaseMs]];
  };
  const open = () => ({ query }) as unknown as Connection;
  return { state, clock, open };
}

test.each([
  ['after 10 s', { queryMs: 2, replyMs: 3 }, 1],
  ['each time if the database is slow, and the result is never too late', { queryMs: 100, replyMs: 400 }, 3],
])('DatabaseClock measures again %s', async (_, times, queries) => {
  const { state, clock, open } = measured(times);
  const connection = open();
  for (let i = 0; i < 3; i++) expect(await clock.offsetMs(connection)).toBe(AHEAD_MS - times.replyMs);
  expect(state.queries).toBe(queries);
  state.nowMs += 10_000;
  await clock.offsetMs(connection);
  expect(state.queries).toBe(queries + 1);
});

test('DatabaseClock measures again on another connection', async () => {
  const { state, clock, open } = measured({ queryMs: 0, replyMs: 0 });
  for (const connection of [open(), open()]) await clock.offsetMs(connection);
  expect(state.queries).toBe(2);
});
