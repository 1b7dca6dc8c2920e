// One round of bringing due work into its queue, as much as that has room for. A claim moves the time at which the work is
// due, so that no two processes take it, and what is lost on the way comes up again.

import type { QueueDepth } from '../src/queue/job-queue.ts';

export interface FillOptions<J> {
  readonly queue: { depth(): Promise<QueueDepth>; enqueue(jobs: readonly J[]): Promise<void> };
  /** Jobs that may wait in the queue. */
  readonly room: number;
  readonly claim: (limit: number) => Promise<readonly J[]>;
}

/** Of the room: a claim costs the same for one as for many. */
const LEAST_SHARE = 0.25;

/** Jobs that the queue takes now; 0 while that is too few to be worth a claim. */
export function roomLeft({ waiting, delayed }: QueueDepth, room: number): number {
  const left = room - waiting - delayed;
  return left < room * LEAST_SHARE ? 0 : left;
}

/** A round for `runRounds`. */
export function fillQueue<J>({ queue, room, claim }: FillOptions<J>): () => Promise<{ isMore: boolean }> {
  return async () => {
    const limit = roomLeft(await queue.depth(), room);
    if (limit === 0) return { isMore: true };
    const jobs = await claim(limit);
    if (jobs.length > 0) await queue.enqueue(jobs);
    return { isMore: jobs.length >= limit };
  };
}
