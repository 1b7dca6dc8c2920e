// Adds jobs of one kind to their queue, and counts them. Background jobs with the same key wait only once. A job that
// a caller waits for precedes all of them, and is never merged with one.

import { type IQueueBackend, Queue } from 'bullmq';
import { connectQueue, PRODUCER_TIMEOUT_MS, type QueuePlace } from './connection.ts';
import type { JobKind } from './jobs.ts';

/** The backend is unavailable or too slow. The message says why; a `cause` would repeat it in the log. */
class QueueUnavailable extends Error {
  override readonly name = 'QueueUnavailable';
}

export interface QueueDepth {
  readonly waiting: number;
  readonly active: number;
  /** Jobs that failed and wait to be retried. */
  readonly delayed: number;
  readonly dead: number;
}

/** A job that has failed as often as allowed. */
interface DeadLetter<J> {
  readonly id: string;
  readonly job: J;
  readonly reason: string;
  readonly attempts: number;
  /** Milliseconds since 1970. */
  readonly failedAt: number;
}

interface JobQueueOptions {
  /** Called with the error of each failed call. */
  readonly onTrouble?: (error: Error) => void;
  /** Delay before the second attempt. The third one waits twice as long. */
  readonly backoffMs?: number;
}

const ATTEMPTS = 3;
const BACKOFF_MS = 2000;
const KEPT_DEAD_LETTERS = { count: 1000, age: 7 * 86_400 };
const KEPT_EVENTS = 1000; // no process reads them
/** Priority of background jobs in BullMQ. 0 is first, followed by ascending numbers. */
const BACKGROUND_PRIORITY = 10;
/** Number of jobs that one statement adds. Each takes its own lock. */
const BATCH = 100;

export class JobQueue<J extends object> {
  /** Used by the board. */
  readonly queue: Queue<J, void, string, J, void, string, IQueueBackend>;
  readonly #kind: JobKind<J>;

  constructor(
    place: QueuePlace,
    kind: JobKind<J>,
    { onTrouble = () => {}, backoffMs = BACKOFF_MS }: JobQueueOptions = {},
  ) {
    const { factory, options } = connectQueue(place, 'producer', onTrouble);
    this.#kind = kind;
    this.queue = new Queue(
      kind.queue,
      {
        ...options,
        streams: { events: { maxLen: KEPT_EVENTS } },
        defaultJobOptions: {
          attempts: ATTEMPTS,
          backoff: { type: 'exponential', delay: backoffMs, jitter: 0.5 },
          removeOnComplete: true,
          removeOnFail: KEPT_DEAD_LETTERS,
        },
      },
      factory,
    );
    this.queue.on('error', onTrouble);
  }

  /** Adds background jobs. Omits a job if one with the same key is queued or running. */
  async enqueue(jobs: readonly J[]): Promise<void> {
    for (let start = 0; start < jobs.length; start += BATCH) {
      const bulk = jobs.slice(start, start + BATCH).map((data) => ({
        name: this.#kind.queue,
        data,
        opts: {
          deduplication: { id: this.#kind.key(data) },
          priority: this.#kind.turn?.(data) ?? BACKGROUND_PRIORITY,
        },
      }));
      await this.#ask(() => this.queue.addBulk(bulk as never));
    }
  }

  /** Adds a job ahead of background jobs, unless it has a later turn. `keyNow` may merge it with another. */
  async enqueueNow(job: J): Promise<void> {
    const id = this.#kind.keyNow?.(job);
    // If several jobs with the same id are added while one runs, only the last of them runs afterwards.
    const once = id === undefined ? {} : { deduplication: { id, keepLastIfActive: true } };
    const turn = this.#kind.turn?.(job);
    const opts = turn === undefined ? once : { ...once, priority: turn };
    await this.#ask(() => this.queue.add(this.#kind.queue as never, job as never, opts));
  }

  async depth(): Promise<QueueDepth> {
    const counts = await this.#ask(() =>
      this.queue.getJobCounts('waiting', 'prioritized', 'active', 'delayed', 'failed'),
    );
    const { waiting = 0, prioritized = 0, active = 0, delayed = 0, failed = 0 } = counts;
    return { waiting: waiting + prioritized, active, delayed, dead: failed };
  }

  /** Lists the newest dead letters first. */
  async deadLetters(limit = 100): Promise<DeadLetter<J>[]> {
    const jobs = await this.#ask(() => this.queue.getFailed(0, limit - 1));
    return jobs.map((job) => ({
      id: String(job.id),
      job: job.data,
      reason: job.failedReason ?? '',
      attempts: job.attemptsMade,
      failedAt: job.finishedOn ?? 0,
    }));
  }

  async close(): Promise<void> {
    await this.queue.close();
  }

  /** Calls the backend only when it is available, so that no job is added after its caller has given up. */
  async #ask<T>(call: () => Promise<T>): Promise<T> {
    const deadline = performance.now() + PRODUCER_TIMEOUT_MS;
    try {
      await within(deadline, this.queue.getBackend().waitUntilReady());
      return await within(deadline, call());
    } catch (error) {
      throw new QueueUnavailable(`the queue cannot be reached: ${(error as Error).message}`);
    }
  }
}

/** Rejects if the promise is not settled by `deadline`, a time of `performance.now()`. */
export async function within<T>(deadline: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, fail) => {
    timer = setTimeout(() => fail(new Error('no answer in time')), Math.max(0, deadline - performance.now()));
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
