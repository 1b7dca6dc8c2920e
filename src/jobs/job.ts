// Describes a kind of job: how its queue is filled, what runs a job, and what its outcome counts and logs.

import type { Registry } from 'prom-client';
import type { Resolver } from '../resolver/resolver.ts';
import type { Database } from '../store/postgres/database.ts';
import type { AccountShares } from './account-shares.ts';
import { type FillOptions, fillQueue } from './fill-queue.ts';
import type { JobQueue } from './job-queue.ts';
import type { RunJob } from './job-worker.ts';
import type { JobKind } from './jobs.ts';
import { type Rounds, runRounds } from './run-rounds.ts';

export interface JobLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Dependencies that most kinds of jobs share. */
export interface JobTools {
  readonly db: Database;
  readonly resolver: Resolver;
  readonly registry: Registry;
  /** Records how much slot time each account uses. */
  readonly shares: AccountShares;
  /** True if an SMTP server is configured. */
  readonly sendsMail: boolean;
}

export interface Job<J extends object, O> {
  readonly kind: JobKind<J>;
  /** Number of jobs that run concurrently. */
  readonly atOnce: number;
  readonly open: (onOutcome: (outcome: O) => void) => RunJob<J>;
  /** Starts the rounds that put due work into the queue. */
  readonly fill: (queue: JobQueue<J>, onTrouble: (error: unknown) => void) => Rounds;
  /** Counts the outcome in the metrics. */
  readonly count: (outcome: O) => void;
  readonly log: (log: JobLog, outcome: O) => void;
}

const IDLE_MS = 1000;

/** Returns a `fill` whose rounds claim due work from the database. */
export function fillByClaims<J extends object>(
  options: Omit<FillOptions<J>, 'queue'>,
): Job<J, never>['fill'] {
  return (queue, onTrouble) =>
    runRounds({ round: fillQueue({ queue, ...options }), idleMs: IDLE_MS, onTrouble });
}
