import { expect, test } from 'vitest';
import { fillQueue } from '../../workers/fill-queue.ts';

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

/** What is due, in order. */
function claimOf(due: number[]): (limit: number) => Promise<number[]> {
  return async (limit) => due.splice(0, limit);
}

test('no more comes into the queue than it has room for beside what waits', async () => {
  const queue = fakeQueue(3, 2);
  const round = fillQueue({ queue, room: 8, claim: claimOf([1, 2, 3, 4, 5]) });
  expect(await round()).toEqual({ isMore: true });
  expect(queue.taken).toEqual([1, 2, 3]);
  expect(await round()).toEqual({ isMore: false });
  expect(queue.taken).toEqual([1, 2, 3, 4, 5]);
});

test('of a queue that is nearly full nothing is claimed either: a claim costs the same for one as for many', async () => {
  const queue = fakeQueue(7);
  const due = [1, 2];
  expect(await fillQueue({ queue, room: 8, claim: claimOf(due) })()).toEqual({ isMore: true });
  expect(due).toEqual([1, 2]);
});

test('of a full queue nothing is claimed, so that nothing waits for its lease to end', async () => {
  const queue = fakeQueue(8);
  const due = [1, 2];
  expect(await fillQueue({ queue, room: 8, claim: claimOf(due) })()).toEqual({ isMore: true });
  expect([queue.taken, due]).toEqual([[], [1, 2]]);
});
