// Takes jobs of one kind from their queue, and runs many of them concurrently. When the locks of a killed process
// expire, its jobs go to another process. A process that is stopped returns the jobs that it cannot finish.

import { setTimeout as pause } from 'node:timers/promises';
import { type IQueueBackend, type Job, WaitingError, Worker } from 'bullmq';
import { connectQueue, type QueuePlace } from './connection.ts';
import type { JobKind } from './jobs.ts';

export interface JobRun {
  /** Aborted when the process ends. The job then runs again elsewhere. */
  readonly signal: AbortSignal;
  /** True if the job was started before, by a process that may have finished its work. */
  readonly again: boolean;
  /** Reports the job's progress for the board. Failed calls are ignored. */
  readonly report?: (progress: object) => Promise<void>;
}

export type RunJob<J> = (job: J, run: JobRun) => Promise<void>;

interface JobWorkerOptions<J> {
  readonly concurrency: number;
  /** Called with the error of each failed call of the backend. */
  readonly onTrouble: (error: Error) => void;
  /** Called for each failed run. `isDead` is true if it was the last one. */
  readonly onFailed: (job: J, error: Error, isDead: boolean) => void;
  /** Time after which jobs of a killed process count as lost. */
  readonly lockMs?: number;
}

export interface JobWorker {
  running(): number;
  /** Takes no more jobs. Runs that last longer than `graceMs` are returned to the queue. */
  stop(graceMs: number): Promise<void>;
}

const LOCK_MS = 20_000;
const RETRY_MS = 1000;
const IDLE_SECONDS = 2;
/** Number of times that killed processes may lose a job before it becomes a dead letter. */
const LOST_TIMES = 5;

export function runJobWorker<J extends object>(
  place: QueuePlace,
  kind: JobKind<J>,
  run: RunJob<J>,
  { concurrency, onTrouble, onFailed, lockMs = kind.lockMs ?? LOCK_MS }: JobWorkerOptions<J>,
): JobWorker {
  const { factory, options } = connectQueue(place, 'worker', onTrouble, kind.connections);
  const stopping = new AbortController();
  let running = 0;

  async function process(job: Job<J>, token?: string): Promise<void> {
    running++;
    const report = async (progress: object) => job.updateProgress(progress).catch(() => {});
    try {
      stopping.signal.throwIfAborted(); // BullMQ may fetch one more job while it closes
      await run(job.data, { signal: stopping.signal, again: job.attemptsStarted > 1, report });
    } catch (error) {
      if (!stopping.signal.aborted) throw error;
      await job.moveToWait(token);
      throw new WaitingError();
    } finally {
      running--;
    }
  }

  const worker = new Worker<J, void, string, IQueueBackend>(
    kind.queue,
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
