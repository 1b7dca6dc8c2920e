// What a handler is given: who calls, and what was loaded and checked on the way. Not the path: the reseller's surface
// mounts the same handlers by numeric id.

import type { FastifyBaseLogger } from 'fastify';
import type { CheckJob, ScanJob, VerifyJob } from '../queue/jobs.ts';
import type { Database } from '../store/database.ts';
import type { VisibleDomain } from '../store/domain.ts';
import type { CountryOf } from '../zone/country.ts';
import type { Caller } from './caller.ts';
import type { AnswerHeader } from './route.ts';

export interface Api {
  /** Within an idempotent call the transaction that keeps its answer: handlers use no other. */
  readonly db: Database;
  readonly allowReservedNames: boolean;
  readonly checks: JobPort<CheckJob & { readonly request: string }>;
  readonly verifications: JobPort<VerifyJob & { readonly request: string }>;
  readonly scans: JobPort<ScanJob>;
  /** For `saveEdit`; undefined: nobody knows. */
  readonly countryOf?: CountryOf | undefined;
}

/** The way to the workers that do one kind of job. */
export interface JobPort<J> {
  /** Ahead of the background's. Rejects, within seconds, when the queue cannot be reached. */
  enqueueNow(job: J): Promise<void>;
  /** How long a caller waits for what comes of it, where that is not the route's own time. */
  readonly waitMs?: number;
}

export const STOPPING = 'this process stops';

export interface Call<Params, Query, Body> {
  readonly api: Api;
  readonly caller: Caller;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** The path with its query as it was asked, for `Link`. */
  readonly url: string;
  readonly log: FastifyBaseLogger;
  /** For what waits: the caller has gone, or this process stops (then the reason is `STOPPING`). */
  readonly gone: AbortSignal;
  /** For routes that wait: they run outside the transaction that keeps the answer. */
  readonly idempotencyKey: string | undefined;
  /** On the answer if it is a success. */
  answerHeader(name: AnswerHeader, value: string | number): void;
  /** What `remake` needs of an answer that may be too large to be kept under an Idempotency-Key. */
  answerRest(rest: unknown): void;
}

export interface DomainCall<Params, Query, Body, Found> extends Call<Params, Query, Body> {
  readonly domain: VisibleDomain;
  /** What the route's `find` has loaded. */
  readonly found: Found;
}
