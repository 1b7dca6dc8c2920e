// Defines the calls that handlers receive: the caller, and what the guards loaded and checked. The path is not
// included, because the reseller surface mounts the same handlers by numeric id.

import type { FastifyBaseLogger } from 'fastify';
import type { Analytics } from '../../analytics/open-analytics.ts';
import type { Gateways } from '../../billing/gateway.ts';
import type { Network } from '../../dns/record/network.ts';
import type { QueueDepth } from '../../jobs/job-queue.ts';
import type { CheckJob, ScanJob, VerifyJob } from '../../jobs/jobs.ts';
import type { AuditNote } from '../../store/audit/write-audit.ts';
import type { DomainHead, Visible, VisibleDomain } from '../../store/domains/domain.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { CountryOf } from '../../zone/records/country.ts';
import type { ApiCaller, Credential } from '../callers/caller.ts';
import type { EdgeCaller } from '../callers/edge-callers.ts';
import type { RateLimit } from '../callers/rate-limits.ts';
import type { EdgeFeed } from '../edge/edge-feed.ts';
import type { EventFeed } from '../events/event-feed.ts';
import type { Judgement } from '../events/followers.ts';
import type { Asker, People } from '../people/people.ts';
import type { PublicChecks } from '../public/public-checks.ts';
import type { RequestIntake } from '../requests/take-requests.ts';
import type { SlowCalls } from './slow-calls.ts';

/** Key of a service, with its type. */
export class ServiceKey<T> {
  declare readonly service: T;
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

export class Services {
  readonly #opened = new Map<object, unknown>();

  add<T>(key: ServiceKey<T>, service: T): void {
    this.#opened.set(key, service);
  }

  /** Returns undefined if this process has no such service. */
  get<T>(key: ServiceKey<T>): T | undefined {
    return this.#opened.get(key) as T | undefined;
  }
}

export interface Api {
  /** With an Idempotency-Key, the transaction that stores the response. Handlers must not use another one. */
  readonly db: Database;
  readonly allowReservedNames: boolean;
  /** Maximum number of unproven domains of an account. If undefined, the plan determines it. */
  readonly claimsPerAccount?: number | undefined;
  /** Limits the domains that an account creates with `POST /domains/batch`. Undefined if there is no limit. */
  readonly domainRate?: RateLimit | undefined;
  /** Trial plan for the first domain of an account, unless an operator created the account. */
  readonly trial?: { readonly planSlug: string; readonly days: number } | undefined;
  /** How far a purchase may overdraw a reseller's wallet. If undefined, it may not. */
  readonly maxNegativeRials?: number;
  /** Payment gateways. Without any, wallets cannot be topped up. */
  readonly payments: Payments;
  /** True if new domains are signed by default. */
  readonly signsNewDomains?: boolean;
  /** True if a certificate authority is configured. */
  readonly issuesCertificates?: boolean;
  /** How long a moved domain is still served. If undefined, responses omit it. */
  readonly movedGraceMs?: number | undefined;
  readonly checks: JobPort<CheckJob & { readonly request: string }>;
  readonly verifications: JobPort<VerifyJob & { readonly request: string }>;
  readonly scans: JobPort<ScanJob>;
  /** Returns the country of an address, for `saveEdit`. Undefined if there is no database of countries. */
  readonly countryOf?: CountryOf | undefined;
  /** Non-public networks that edges may connect to. */
  readonly originAllow?: readonly Network[];
  /** Counts the results sent by observers. */
  readonly countVantageAnswer?: (outcome: string) => void;
  /** Undefined if there is no analytics store. Routes that need one then respond 404. */
  readonly analytics?: Analytics | undefined;
  /** Services of features. */
  readonly services: Services;
  /** Configuration of edges. Undefined in threads, and if this process serves no edges. */
  readonly edgeFeed?: EdgeFeed | undefined;
  /** Events of domains, for event streams. Undefined in threads. */
  readonly eventFeed?: EventFeed | undefined;
  /** Accepts reports of requests from edges. Undefined if there is no analytics store. */
  readonly requests?: RequestIntake | undefined;
  /** Undefined in threads, which handle no calls that need it. */
  readonly people?: People | undefined;
  /** Public checks of delegations. Undefined if they are not offered. */
  readonly publicChecks?: PublicChecks | undefined;
  /** Queues of the workers, for global admins. */
  readonly queues?: readonly QueueState[];
  /** For global admins. Undefined in threads. */
  readonly slowCalls?: SlowCalls;
}

interface Payments {
  readonly gateways: Gateways;
  /** Instructions for manual payment. */
  readonly instructions?: string | undefined;
  /** Seller shown on invoices. */
  readonly seller?: string | undefined;
}

/** A queue of the workers. */
export interface QueueState {
  readonly name: string;
  /** Rejects within seconds if the queue is unavailable. */
  depth(): Promise<QueueDepth>;
}

/** The queue for one kind of job. */
export interface JobPort<J> {
  /** Adds a job ahead of background jobs. Rejects within seconds if the queue is unavailable. */
  enqueueNow(job: J): Promise<void>;
  /** How long a call waits for the result, instead of the route's own limit. */
  readonly waitMs?: number;
}

/** Headers that a route may set on a success. */
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

/** Part of a call whose response continues for as long as the caller has access. */
export interface Following {
  /** The `Last-Event-ID` header of the request. */
  readonly lastEventId: string | undefined;
  /** Checks the request again with all guards, without counting it. Rejects if that is not possible now. */
  readonly judge: () => Promise<Judgement>;
}

/** A call by an API key, a session or a machine token. */
export interface Call<Params = unknown, Query = unknown, Body = unknown, Found = unknown> {
  readonly api: Api;
  readonly caller: ApiCaller;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** Result of the route's `find`. */
  readonly found: Found;
  /** The requested path with its query, for `Link`. */
  readonly url: string;
  readonly log: FastifyBaseLogger;
  /** For handlers that wait: aborted when the client disconnects or this process stops (then the reason is `STOPPING`). */
  readonly gone: AbortSignal;
  /** For routes that wait, because they run outside the transaction that stores the response. */
  readonly idempotencyKey: string | undefined;
  /** Runs a write of a domain after earlier writes of it. Do not call it for the domain that the guards found. */
  inTurnOf<T>(domainId: number, work: () => Promise<T>): Promise<T>;
  /**
   * Lets the next write of the domain begin. Call it when the commit is sent: the next write then waits only for the lock of
   * the domain's row. Undefined if the handler runs inside another transaction.
   */
  readonly leaveTurn?: (() => void) | undefined;
  /** Undefined unless the route declares `follows`. */
  readonly following?: Following | undefined;
  /** Sets a header of the response if it is a success. */
  answerHeader(name: AnswerHeader, value: string | number): void;
  /**
   * Adds a row to the audit log, for a route that declares its action. The row is about the domain or the caller's account
   * unless the note names another subject. The handler must call it on each success, without a note if it wrote nothing.
   */
  audit(note?: AuditNote): void;
  /** Stores the data from which `remake` can rebuild a response that is too large to be stored. */
  answerRest(rest: unknown): void;
}

/** Members of calls that people make with the console or another client. */
interface OfPeople {
  readonly people: People;
  readonly asker: Asker;
  /** Sends `Set-Cookie` with the response if it is a success. */
  setCookie(text: string): void;
}

interface SessionCall<Params, Query, Body, Found> extends Call<Params, Query, Body, Found>, OfPeople {
  readonly caller: ApiCaller & { readonly credential: Extract<Credential, { kind: 'session' }> };
}

interface Calls<P, Q, B, F> {
  /** The caller is undefined if the request has no session. */
  readonly public: Omit<Call<P, Q, B>, 'caller' | 'found'> &
    OfPeople & { readonly caller: ApiCaller | undefined };
  readonly session: SessionCall<P, Q, B, F>;
  readonly admin: SessionCall<P, Q, B, F>;
  readonly reseller: Call<P, Q, B, F> & { readonly people: People };
  readonly account: Call<P, Q, B, F>;
  readonly domain: Call<P, Q, B, F> & { readonly domain: VisibleDomain };
  readonly head: Call<P, Q, B, F> & { readonly domain: Visible<DomainHead> };
  /** `address` is the address of the observer. */
  readonly vantage: Pick<Call<P, Q, B>, 'api' | 'body' | 'gone' | 'log'> & {
    readonly vantage: string;
    readonly address: string;
  };
  readonly gateway: Pick<Call<P, Q, B>, 'api' | 'body' | 'log'> & { readonly gateway: string };
  readonly edge: Pick<Call<P, Q, B>, 'api' | 'params' | 'query' | 'body' | 'gone' | 'log'> & {
    readonly edge: EdgeCaller;
  };
}

/** The call that a handler receives, by the kind of access that its route declares. */
export type CallOf<
  Kind extends keyof Calls<unknown, unknown, unknown, unknown>,
  Params = unknown,
  Query = unknown,
  Body = unknown,
  Found = unknown,
> = Calls<Params, Query, Body, Found>[Kind];
