import { expect, it } from 'vitest';
import { SyncWatch } from '../../../src/api/actions/sync-watch.ts';
import type { InSync } from '../../../src/store/feed/in-sync.ts';
import { until } from '../../support/tests/until.ts';

const never = () => new AbortController().signal;
const state = (seen: number): InSync => ({ inSync: seen === 3, nodes: { seen, live: 3 } });

it('runs one query at a time for any number of waiters, and none without waiters', async () => {
  const asked: number[][] = [];
  let seen = 0;
  const watch = new SyncWatch(async (ids) => {
    asked.push([...ids]);
    return new Map(ids.map((id) => [id, state(id === 9 ? 0 : seen)]));
  });
  const waits = Array.from({ length: 100 }, (_, i) => watch.wait(i % 2, 10_000, never()));
  const slow = watch.wait(9, 200, never());
  await until(() => asked.length > 3, 'it has asked a few times');
  seen = 3;
  expect(await Promise.all(waits)).toEqual(waits.map(() => state(3)));
  expect(asked.at(-1)).toHaveLength(new Set(asked.at(-1)).size);
  expect(await slow).toEqual(state(0));
  await until(() => watch.waiting === 0, 'it has stopped');
  const rounds = asked.length;
  expect(rounds).toBeLessThan(30);
  expect(await watch.wait(1, 1000, never())).toEqual(state(3));
  expect(asked.length).toBe(rounds + 1);
});

it('removes a waiter immediately when its client disconnects', async () => {
  const watch = new SyncWatch(async () => new Map([[1, state(2)]]));
  const gone = new AbortController();
  const waiting = watch.wait(1, 10_000, gone.signal);
  expect(watch.waiting).toBe(1);
  gone.abort();
  await waiting;
  expect(watch.waiting).toBe(0);
  await watch.wait(1, 10_000, gone.signal);
  expect(watch.waiting).toBe(0);
});

it('fails all waiters if the database is unreachable, and queries again for the next one', async () => {
  let broken = true;
  const watch = new SyncWatch(async () => {
    if (broken) throw new Error('gone');
    return new Map([[1, state(3)]]);
  });
  const both = [watch.wait(1, 10_000, never()), watch.wait(2, 10_000, never())];
  for (const waiting of both) await expect(waiting).rejects.toThrow('gone');
  broken = false;
  expect(await watch.wait(1, 10_000, never())).toEqual(state(3));
});

it('ends the wait if the change does not exist', async () => {
  const watch = new SyncWatch(async () => new Map());
  expect(await watch.wait(5, 10_000, never())).toBeUndefined();
});
