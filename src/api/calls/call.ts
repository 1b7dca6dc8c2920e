// What a handler is given: the caller, and what was loaded and checked by the guards. The path is left out, since the
// reseller's surface mounts the same handlers by numeric id.

import type { FastifyBaseLogger } from 'fastify';
import type { Analytics } from '../../analytics/open-analytics.ts';
import type { Gateways } from '../../billing/gateway.ts';
import type { Network } from '../../dns/record/network.ts';
import type { QueueDepth } from '../../jobs/job-queue.ts';
import type { CheckJob, ScanJob, VerifyJob } from '../../jobs/jobs.ts';
import type { AuditNote } from '../../store/audit/write-audit.ts';
import type { CacheRegistry } from '../../store/cached/cache-registry.ts';
import type { VisibleDomain } from '../../store/domains/domain.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { CountryOf } from '../../zone/records/country.ts';
import type { ApiCaller, Credential } from '../callers/caller.ts';
import type { EdgeCaller } from '../callers/edge-callers.ts';
import type { EdgeFeed } from '../edge/edge-feed.ts';
import type { EventFeed, Judgement } from '../events/event-feed.ts';
import type { Asker, People } from '../people/people.ts';
import type { PublicChecks } from '../public/public-checks.ts';
import type { RequestIntake } from '../requests/take-requests.ts';
import type { SlowCalls } from './slow-calls.ts';

export interface Api {
  /** Within an idempotent call, the transaction that keeps its answer: handlers must use no other. */
  readonly db: Database;
  readonly allowReservedNames: boolean;
  /** How many domains of an account may wait to be proved; undefined: the plan decides. */
  readonly claimsPerAccount?: number | undefined;
  /** What the first domain of an account that registered itself begins with. */
  readonly trial?: { readonly planSlug: string; readonly days: number } | undefined;
  /** How far below zero purchases may bring a reseller's wallet; undefined: not at all. */
  readonly maxNegativeRials?: number;
  /** The ways to pay; without any, nothing is topped up. */
  readonly payments: Payments;
  /** New domains are signed unless their caller says otherwise. */
  readonly signsNewDomains?: boolean;
  /** An authority is named that issues certificates. */
  readonly issuesCertificates?: boolean;
  /** How long a moved domain is answered; undefined: answers do not say. */
  readonly movedGraceMs?: number | undefined;
  readonly checks: JobPort<CheckJob & { readonly request: string }>;
  readonly verifications: JobPort<VerifyJob & { readonly request: string }>;
  readonly scans: JobPort<ScanJob>;
  /** The country of an address, for `saveEdit`; undefined: not known. */
  readonly countryOf?: CountryOf | undefined;
  /** Networks that edges may connect to although they are not public; undefined: none. */
  readonly originAllow?: readonly Network[];
  /** Networks that webhooks may lead to although they are not public; undefined: none. */
  readonly webhookAllow?: readonly Network[];
  /** Counts the answers of observers elsewhere. */
  readonly countVantageAnswer?: (outcome: string) => void;
  /** Undefined: there is no analytics store, and what needs one answers 503. */
  readonly analytics?: Analytics | undefined;
  /** What edges are told; undefined in threads, and where no edge is served. */
  readonly edgeFeed?: EdgeFeed | undefined;
  /** What happens to domains, for those who follow it; undefined in threads. */
  readonly eventFeed?: EventFeed | undefined;
  /** What edges have cached; undefined in threads. */
  readonly cacheRegistry?: CacheRegistry | undefined;
  readonly countCacheEntries?: (counts: Readonly<Record<string, number>>) => void;
  /** What edges report of requests; undefined: there is no analytics store. */
  readonly requests?: RequestIntake | undefined;
  /** Undefined in threads for large bodies, which answer no call of people. */
  readonly people?: People | undefined;
  /** Looks at delegations for everyone; undefined: there is no such path. */
  readonly publicChecks?: PublicChecks | undefined;
  /** For global admins: how much each queue has to do. */
  readonly queues?: readonly QueueState[];
  /** For global admins; undefined in threads. */
  readonly slowCalls?: SlowCalls;
}

interface Payments {
  readonly gateways: Gateways;
  /** How to pay by hand. */
  readonly instructions?: string | undefined;
  /** Who sells, on invoices. */
  readonly seller?: string | undefined;
}

/** A queue of the workers. */
export interface QueueState {
  readonly name: string;
  /** Rejects, within seconds, when the queue cannot be reached. */
  depth(): Promise<QueueDepth>;
}

/** The queue of the workers that do one kind of job. */
export interface JobPort<J> {
  /** Puts a job ahead of background jobs. Rejects, within seconds, when the queue cannot be reached. */
  enqueueNow(job: J): Promise<void>;
  /** How long a caller waits for the result, if not the route's own time. */
  readonly waitMs?: number;
}

/** The headers that a success may have. */
export type AnswerHeader =
  | 'X-Change-Id'
  | 'X-Zone-Serial'
  | 'Link'
  | 'X-Total-Count'
  | 'Allow'
  | 'Content-Disposition'
  | 'Content-Security-Policy'
  | 'X-Accel-Buffering';

export const STOPPING = 'this process stops';

/** Of a call whose answer goes on for as long as its caller may have it. */
export interface Following {
  /** The `Last-Event-ID` of the request. */
  readonly lastEventId: string | undefined;
  /** Judges the request as when it came, without counting it. Rejects when that cannot be done now. */
  readonly judge: () => Promise<Judgement>;
}

export interface Call<Params, Query, Body> {
  readonly api: Api;
  readonly caller: ApiCaller;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** The requested path with its query, for `Link`. */
  readonly url: string;
  readonly log: FastifyBaseLogger;
  /** For handlers that wait: the caller has gone, or this process stops (then the reason is `STOPPING`). */
  readonly gone: AbortSignal;
  /** For routes that wait, since they run outside the transaction that keeps the answer. */
  readonly idempotencyKey: string | undefined;
  /** Of routes that say `follows`. */
  readonly following?: Following | undefined;
  /** Sets a header of the answer if it is a success. */
  answerHeader(name: AnswerHeader, value: string | number): void;
  /**
   * What the row of the audit log tells, of a route that says its action; the account of the caller, or the domain, is
   * what it is about unless said. Such a handler calls it at each success: without a note where it wrote nothing.
   */
  audit(note?: AuditNote): void;
  /** Keeps what `remake` needs for an answer that may be too large to be kept under an Idempotency-Key. */
  answerRest(rest: unknown): void;
}

/** A call of an observer elsewhere. */
export interface VantageCall<Body>
  extends Pick<Call<unknown, unknown, Body>, 'api' | 'body' | 'gone' | 'log'> {
  readonly vantage: string;
  /** Where it calls from. */
  readonly address: string;
}

/** A call of a payment gateway. */
export interface GatewayCall<Body> extends Pick<Call<unknown, unknown, Body>, 'api' | 'body' | 'log'> {
  readonly gateway: string;
}

/** A call of an edge node. */
export interface EdgeCall<Params, Query, Body>
  extends Pick<Call<Params, Query, Body>, 'api' | 'params' | 'query' | 'body' | 'gone' | 'log'> {
  readonly edge: EdgeCaller;
}

/** What calls of people have beside. */
interface PeopleCall {
  readonly people: People;
  readonly asker: Asker;
  /** Sends `Set-Cookie` with the answer if it is a success. */
  setCookie(text: string): void;
}

export interface PublicCall<Params, Query, Body>
  extends Omit<Call<Params, Query, Body>, 'caller'>,
    PeopleCall {
  /** Where the call has a session. */
  readonly caller: ApiCaller | undefined;
}

export interface SessionCall<Params, Query, Body> extends Call<Params, Query, Body>, PeopleCall {
  readonly caller: ApiCaller & { readonly credential: Extract<Credential, { kind: 'session' }> };
}

/** A call of a reseller, by a session or a machine token. */
export interface ResellerCall<Params, Query, Body, Found> extends Call<Params, Query, Body> {
  readonly people: People;
  /** What the route's `find` has loaded. */
  readonly found: Found;
}

/** A call of a global admin. */
export interface AdminCall<Params, Query, Body, Found> extends SessionCall<Params, Query, Body> {
  /** What the route's `find` has loaded. */
  readonly found: Found;
}

export interface DomainCall<Params, Query, Body, Found> extends Call<Params, Query, Body> {
  readonly domain: VisibleDomain;
  /** What the route's `find` has loaded. */
  readonly found: Found;
}
