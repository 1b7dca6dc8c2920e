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

/** A round for `runRounds`. */
export function fillQueue<J>({ queue, room, claim }: FillOptions<J>): () => Promise<{ isMore: boolean }> {
  return async () => {
    const { waiting, delayed } = await queue.depth();
    const limit = room - waiting - delayed;
    if (limit < room * LEAST_SHARE) return { isMore: true };
    const jobs = await claim(limit);
    if (jobs.length > 0) await queue.enqueue(jobs);
    return { isMore: jobs.length >= limit };
  };
}
