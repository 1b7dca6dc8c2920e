// The jobs of a workers process: the queue of each kind, the rounds that fill it, and the worker that takes jobs out.

import type { QueuePlace } from './connection.ts';
import type { Job, JobLog } from './job.ts';
import { JobQueue, type QueueDepth } from './job-queue.ts';
import { type JobWorker, runJobWorker } from './job-worker.ts';
import type { JobKind } from './jobs.ts';
import type { Rounds } from './run-rounds.ts';

interface RunOptions {
  readonly place: QueuePlace;
  readonly log: JobLog;
  /** Called with the error of each failed call of a queue. */
  readonly onQueueTrouble: (error: Error) => void;
  /** Called with the error of each failed round. */
  readonly onRoundTrouble: (error: unknown) => void;
  /** Called for each failed run. `isDead` is true if the job is not tried again. */
  readonly onFailed: (isDead: boolean) => void;
}

export class RunningJobs {
  readonly #options: RunOptions;
  readonly #queues = new Map<string, JobQueue<object>>();
  readonly #workers = new Map<string, JobWorker>();
  readonly #rounds: Rounds[] = [];

  /** Opens the queue of each kind. `depths` also counts the jobs of kinds that are not started. */
  constructor(kinds: readonly JobKind<never>[], options: RunOptions) {
    this.#options = options;
    const { place, onQueueTrouble } = options;
    for (const kind of kinds as readonly JobKind<object>[])
      this.#queues.set(kind.queue, new JobQueue(place, kind, { onTrouble: onQueueTrouble }));
  }

  /** Starts running jobs of one kind. Call it after Postgres and the queue have answered. */
  start<J extends object, O>({ kind, atOnce, open, fill, count, log: tell }: Job<J, O>): void {
    const { place, log, onQueueTrouble, onRoundTrouble, onFailed } = this.#options;
    const queue = this.#queues.get(kind.queue) as unknown as JobQueue<J>;
    const run = open((outcome) => {
      count(outcome);
      tell(log, outcome);
    });
    const worker = runJobWorker(place, kind, run, {
      concurrency: atOnce,
      onTrouble: onQueueTrouble,
      onFailed(job, error, isDead) {
        onFailed(isDead);
        log.error({ err: error, ...job, kind: kind.queue, dead: isDead }, 'a job failed');
      },
    });
    this.#workers.set(kind.queue, worker);
    this.#rounds.push(fill(queue, onRoundTrouble));
  }

  /** Rejects while the queue cannot be reached. */
  async depth({ queue }: { readonly queue: string }): Promise<QueueDepth> {
    return await (this.#queues.get(queue) as JobQueue<object>).depth();
  }

  /** Returns the depths by the queue's name. Rejects while the queues cannot be reached. */
  async depths(): Promise<Record<string, QueueDepth>> {
    const depths = [...this.#queues].map(async ([name, queue]) => [name, await queue.depth()] as const);
    return Object.fromEntries(await Promise.all(depths));
  }

  running({ queue }: { readonly queue: string }): number {
    return this.#workers.get(queue)?.running() ?? 0;
  }

  /** Stops taking jobs. Jobs that still run after `graceMs` return to their queues. */
  async stop(graceMs: number): Promise<void> {
    await Promise.all(this.#rounds.map((rounds) => rounds.stop()));
    await Promise.all([...this.#workers.values()].map((worker) => worker.stop(graceMs)));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#queues.values()].map((queue) => queue.close()));
  }
}
