// Takes delegation checks out of the queue and runs them, many at a time. What a killed process was working on is found
// by its lock, which runs out, and goes to another; a process that is stopped gives back what it cannot finish.

import { setTimeout as pause } from 'node:timers/promises';
import { type IQueueBackend, type Job, WaitingError, Worker } from 'bullmq';
import { connectQueue, type QueuePlace } from './connection.ts';
import { CHECK_QUEUE, type CheckJob } from './jobs.ts';

export interface CheckRun {
  /** Aborted when the process ends: give up, the check is run again elsewhere. */
  readonly signal: AbortSignal;
  /** It was begun before, by a process that may have got to its end. */
  readonly again: boolean;
}

export type RunCheck = (job: CheckJob, run: CheckRun) => Promise<void>;

export interface CheckWorkerOptions {
  readonly concurrency: number;
  /** Told of each failed call of the backend. */
  readonly onTrouble: (error: Error) => void;
  /** Told of each run that failed, and whether it was the last one. */
  readonly onFailed: (job: CheckJob, error: Error, isDead: boolean) => void;
  /** How soon the work of a killed process is seen to be lost. */
  readonly lockMs?: number;
}

export interface CheckWorker {
  running(): number;
  /** Takes nothing more; runs that are not over after `graceMs` are given back. */
  stop(graceMs: number): Promise<void>;
}

const LOCK_MS = 20_000;
const RETRY_MS = 1000;
const IDLE_SECONDS = 2;
/** Restarts by force during which one check may be lost; then it is a dead letter. */
const LOST_TIMES = 5;

export function runCheckWorker(
  place: QueuePlace,
  run: RunCheck,
  { concurrency, onTrouble, onFailed, lockMs = LOCK_MS }: CheckWorkerOptions,
): CheckWorker {
  const { factory, options } = connectQueue(place, 'worker', onTrouble);
  const stopping = new AbortController();
  let running = 0;

  async function process(job: Job<CheckJob>, token?: string): Promise<void> {
    running++;
    try {
      await run(job.data, { signal: stopping.signal, again: job.attemptsStarted > 1 });
    } catch (error) {
      if (!stopping.signal.aborted) throw error;
      await job.moveToWait(token);
      throw new WaitingError();
    } finally {
      running--;
    }
  }

  const worker = new Worker<CheckJob, void, string, IQueueBackend>(
    CHECK_QUEUE,
    process,
    {
      ...options,
      concurrency,
      lockDuration: lockMs,
      stalledInterval: lockMs / 4,
      maxStalledCount: LOST_TIMES,
      drainDelay: IDLE_SECONDS,
      runRetryDelay: RETRY_MS,
    },
    factory,
  );
  worker.on('error', onTrouble);
  worker.on('failed', (job, error) => {
    if (job !== undefined) onFailed(job.data, error, job.finishedOn !== undefined);
  });

  return {
    running: () => running,
    async stop(graceMs) {
      const closed = worker.close();
      const abort = new AbortController();
      await Promise.race([closed, pause(graceMs, undefined, { signal: abort.signal }).catch(() => {})]);
      abort.abort();
      stopping.abort();
      await closed;
    },
  };
}
