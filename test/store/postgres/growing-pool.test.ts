import { EventEmitter } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { beforeEach, expect, it } from 'vitest';
import { GrowingPool, PoolFull } from '../../../src/store/postgres/growing-pool.ts';

type Opened = (error?: Error) => void;

/** Connections that are being opened. The test resolves or rejects each. */
let opening: Opened[] = [];

class FakeClient extends EventEmitter {
  readonly _queryable = true; // read by the pool
  connect(done: Opened): void {
    opening.push(done);
  }
  end(done: () => void): void {
    done();
  }
  ref(): void {}
  unref(): void {}
}

const openPool = (max: number, maxWaiting = 10) =>
  new GrowingPool({ max, maxWaiting, Client: FakeClient as never, connectionTimeoutMillis: 60_000 });

async function openNext(error?: Error): Promise<void> {
  opening.shift()?.(error);
  await setImmediate();
}

beforeEach(() => {
  opening = [];
});

it('a call takes a released connection, and does not wait for the one that is being opened', async () => {
  const pool = openPool(5);
  const first = pool.connect();
  await openNext();
  const client = await first;
  const second = pool.connect();
  await setImmediate();
  expect(opening).toHaveLength(1);
  client.release();
  expect(await second).toBe(client);
});

it('opens one connection at a time while calls wait, up to its size', async () => {
  const pool = openPool(3);
  const calls = Array.from({ length: 5 }, () => pool.connect());
  const most: number[] = [];
  for (let i = 0; i < 4; i++) {
    most.push(opening.length);
    await openNext();
  }
  expect(most).toEqual([1, 1, 1, 0]);
  expect([pool.pool.totalCount, pool.pool.waitingCount]).toEqual([3, 2]);
  for (const client of await Promise.all(calls.slice(0, 3))) client.release();
  expect(await Promise.all(calls.slice(3))).toHaveLength(2);
});

it('each waiting call gets the reason why there is no connection', async () => {
  const pool = openPool(2);
  const calls = [pool.connect(), pool.connect()].map((call) => call.catch((error: Error) => error.message));
  for (let i = 0; i < 5; i++) await openNext(new Error('refused'));
  expect(await Promise.all(calls)).toEqual(['refused', 'refused']);
});

it('rejects a call if too many wait', async () => {
  const pool = openPool(1, 2);
  const calls = [pool.connect(), pool.connect()];
  await expect(pool.connect()).rejects.toBeInstanceOf(PoolFull);
  await openNext();
  (await calls[0])?.release();
  (await calls[1])?.release();
});
