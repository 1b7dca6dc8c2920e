// One round of bringing due work into its queue, as much as that has room for. A claim moves the time at which the work is
// due, so that no two processes take it, and what is lost on the way comes up again.

import type { QueueDepth } from '../src/queue/job-queue.ts';

export interface FillOptions<J> {
  readonly queue: { depth(): Promise<QueueDepth>; enqueue(jobs: readonly J[]): Promise<void> };
  /** Jobs that may wait in the queue. */
  readonly room: number;
  readonly claim: (limit: number) => Promise<readonly J[]>;
}

/** A round for `runRounds`. */
export function fillQueue<J>({ queue, room, claim }: FillOptions<J>): () => Promise<{ isMore: boolean }> {
  return async () => {
    const { waiting, delayed } = await queue.depth();
    const limit = room - waiting - delayed;
    if (limit <= 0) return { isMore: true };
    const jobs = await claim(limit);
    if (jobs.length > 0) await queue.enqueue(jobs);
    return { isMore: jobs.length >= limit };
  };
}
