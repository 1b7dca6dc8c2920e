// Puts delegation checks into the queue and counts what is in it. A background check waits once per domain; one that
// somebody waits for goes ahead of all of them, and is never taken for one of them.

import { type IQueueBackend, Queue } from 'bullmq';
import { connectQueue, migrateQueue, PRODUCER_TIMEOUT_MS, type QueuePlace } from './connection.ts';
import { CHECK_QUEUE, type CheckJob } from './jobs.ts';

/** The backend is gone, or does not answer in time. */
export class QueueUnavailable extends Error {
  override readonly name = 'QueueUnavailable';
}

export interface QueueDepth {
  readonly waiting: number;
  readonly active: number;
  /** They failed and wait to be tried again. */
  readonly delayed: number;
  readonly dead: number;
}

/** A job that failed as often as it may. */
export interface DeadLetter {
  readonly id: string;
  readonly job: CheckJob;
  readonly reason: string;
  readonly attempts: number;
  /** Milliseconds since 1970. */
  readonly failedAt: number;
}

export interface CheckQueueOptions {
  /** Told of each failed call. */
  readonly onTrouble?: (error: Error) => void;
  /** Before the second attempt; the third waits twice that. */
  readonly backoffMs?: number;
}

const ATTEMPTS = 3;
const BACKOFF_MS = 2000;
const KEPT_DEAD_LETTERS = { count: 1000, age: 7 * 86_400 };
const KEPT_EVENTS = 1000; // nobody reads them
/** BullMQ: 0 goes first, then in rising order. */
const BACKGROUND_PRIORITY = 10;
/** Jobs in one statement, each with a lock of its own. */
const BATCH = 100;

export class CheckQueue {
  /** For the board. */
  readonly queue: Queue<CheckJob, void, string, CheckJob, void, string, IQueueBackend>;
  readonly #place: QueuePlace;

  constructor(place: QueuePlace, { onTrouble = () => {}, backoffMs = BACKOFF_MS }: CheckQueueOptions = {}) {
    const { factory, options } = connectQueue(place, 'producer', onTrouble);
    this.#place = place;
    this.queue = new Queue(
      CHECK_QUEUE,
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

  /** The backend's own tables, where it has any. */
  async migrate(): Promise<void> {
    await migrateQueue(this.#place);
  }

  /** Background checks; a domain that has one in the queue, or running, gets no second one. */
  async enqueueChecks(domainIds: readonly number[]): Promise<void> {
    for (let start = 0; start < domainIds.length; start += BATCH) {
      const jobs = domainIds.slice(start, start + BATCH).map((domainId) => ({
        name: 'check',
        data: { domainId, kind: 'background' } satisfies CheckJob,
        opts: { deduplication: { id: `check:${domainId}` }, priority: BACKGROUND_PRIORITY },
      }));
      await this.#ask(() => this.queue.addBulk(jobs));
    }
  }

  async enqueueCheckNow(job: CheckJob & { readonly request: string }): Promise<void> {
    await this.#ask(() => this.queue.add('check', job));
  }

  async depth(): Promise<QueueDepth> {
    const counts = await this.#ask(() =>
      this.queue.getJobCounts('waiting', 'prioritized', 'active', 'delayed', 'failed'),
    );
    const { waiting = 0, prioritized = 0, active = 0, delayed = 0, failed = 0 } = counts;
    return { waiting: waiting + prioritized, active, delayed, dead: failed };
  }

  /** The newest first. */
  async deadLetters(limit = 100): Promise<DeadLetter[]> {
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

  /** Nothing is handed over before the backend is there: it would be done later, when nobody waits any more. */
  async #ask<T>(call: () => Promise<T>): Promise<T> {
    const deadline = performance.now() + PRODUCER_TIMEOUT_MS;
    try {
      await within(deadline, this.queue.getBackend().waitUntilReady());
      return await within(deadline, call());
    } catch (error) {
      throw new QueueUnavailable(`the queue cannot be reached: ${(error as Error).message}`, {
        cause: error,
      });
    }
  }
}

async function within<T>(deadline: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, fail) => {
    timer = setTimeout(() => fail(new Error('no answer in time')), deadline - performance.now());
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
