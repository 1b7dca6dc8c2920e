// One kind of job in a workers process: its queue, the rounds that fill it, and the worker that takes jobs out.

import type { QueuePlace } from './connection.ts';
import { JobQueue } from './job-queue.ts';
import { type JobWorker, type RunJob, runJobWorker } from './job-worker.ts';
import type { JobKind } from './jobs.ts';
import type { Rounds } from './run-rounds.ts';

interface QueueWorkerOptions<J extends object> {
  readonly place: QueuePlace;
  readonly kind: JobKind<J>;
  /** Called with the error of each failed call of the queue. */
  readonly onQueueTrouble: (error: Error) => void;
}

interface WorkOptions<J extends object> {
  readonly run: RunJob<J>;
  readonly concurrency: number;
  /** The rounds that bring due work into the queue; they run already. */
  readonly rounds: Rounds;
  readonly onFailed: (job: J, error: Error, isDead: boolean) => void;
}

export class QueueWorker<J extends object> {
  readonly queue: JobQueue<J>;
  readonly #options: QueueWorkerOptions<J>;
  #worker: JobWorker | undefined;
  #rounds: Rounds | undefined;

  constructor(options: QueueWorkerOptions<J>) {
    const { place, kind, onQueueTrouble } = options;
    this.#options = options;
    this.queue = new JobQueue(place, kind, { onTrouble: onQueueTrouble });
  }

  get name(): string {
    return this.#options.kind.queue;
  }

  running(): number {
    return this.#worker?.running() ?? 0;
  }

  /** Call it once Postgres and the queue answer. */
  start({ run, concurrency, rounds, onFailed }: WorkOptions<J>): void {
    const { place, kind, onQueueTrouble } = this.#options;
    this.#worker = runJobWorker(place, kind, run, { concurrency, onTrouble: onQueueTrouble, onFailed });
    this.#rounds = rounds;
  }

  /** Takes no more jobs; those that are not over after `graceMs` are given back. */
  async stop(graceMs: number): Promise<void> {
    await this.#rounds?.stop();
    await this.#worker?.stop(graceMs);
  }

  async close(): Promise<void> {
    await this.queue.close();
  }
}
