import { expect, test } from 'vitest';
import { fillQueue } from '../../src/jobs/fill-queue.ts';

function fakeQueue(waiting: number, delayed = 0) {
  const taken: number[] = [];
  return {
    taken,
    depth: async () => ({ waiting, active: 7, delayed, dead: 9 }),
    async enqueue(jobs: readonly number[]) {
      taken.push(...jobs);
    },
  };
}

/** Due work, in order. */
function claimOf(due: number[]): (limit: number) => Promise<number[]> {
  return async (limit) => due.splice(0, limit);
}

test('adds only as many jobs as the queue has room for', async () => {
  const queue = fakeQueue(3, 2);
  const round = fillQueue({ queue, room: 8, claim: claimOf([1, 2, 3, 4, 5]) });
  expect(await round()).toEqual({ isMore: true });
  expect(queue.taken).toEqual([1, 2, 3]);
  expect(await round()).toEqual({ isMore: false });
  expect(queue.taken).toEqual([1, 2, 3, 4, 5]);
});

test('claims nothing for a full or nearly full queue, because a claim costs the same for one job as for many', async () => {
  const queue = fakeQueue(7);
  const due = [1, 2];
  expect(await fillQueue({ queue, room: 8, claim: claimOf(due) })()).toEqual({ isMore: true });
  expect(due).toEqual([1, 2]);
  const full = fakeQueue(8);
  const none = [1, 2];
  expect(await fillQueue({ queue: full, room: 8, claim: claimOf(none) })()).toEqual({ isMore: true });
  expect([full.taken, none]).toEqual([[], [1, 2]]);
});

test('adds a few jobs of light accounts to a full queue, up to twenty times its room', async () => {
  const due = Array.from({ length: 30 }, (_, i) => i);
  const full = fakeQueue(8);
  const claim = () => Promise.reject(new Error('there is no room'));
  expect(await fillQueue({ queue: full, room: 8, claim, claimLight: claimOf(due) })()).toEqual({
    isMore: true,
  });
  expect(full.taken).toHaveLength(20);
  const fuller = fakeQueue(160);
  await fillQueue({ queue: fuller, room: 8, claim, claimLight: claimOf(due) })();
  expect(fuller.taken).toEqual([]);
});

test('counts a waiting job of a group as if it had all members', async () => {
  const queue = fakeQueue(2, 1);
  const merged: (readonly number[])[] = [];
  const merge = (jobs: readonly number[]) => {
    merged.push(jobs);
    return jobs.slice(0, 1);
  };
  const group = { size: 4, merge };
  await fillQueue({ queue, room: 16, claim: claimOf([1, 2, 3, 4, 5]), group })();
  expect([merged, queue.taken]).toEqual([[[1, 2, 3, 4]], [1]]);
});
