// Declares routes as values: who may call a route, what it accepts and what it returns. `mount-routes.ts` mounts it behind
// the guards, and `describe-routes.ts` describes it from the same schemas.

import type { z } from 'zod';
import type { AuditAction } from '../../store/audit/audit-actions.ts';
import type { DomainHead, Visible } from '../../store/domains/domain.ts';
import type { DomainPart } from '../../store/domains/load-domains.ts';
import type { CompatSurface } from '../answers/compat-answer.ts';
import type { FieldProblem, Problem, ProblemCode } from '../answers/problem.ts';
import type { StreamedArray, StreamedLines, StreamedText } from '../answers/streams.ts';
import type { Permission } from '../callers/caller.ts';
import type { AnswerHeader, Api, CallOf } from './call.ts';

/** `mountRoutes` adds the OPTIONS routes. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';

/** Everyone may call the route, with or without a session. API keys are rejected. */
export const everyone = { kind: 'public' } as const;

/** Requires a session. With `fresh`, the password must have been given within the last 15 minutes. */
export const session = ({ fresh = false } = {}) => ({ kind: 'session', fresh }) as const;

/**
 * Requires the session of a global admin. A write also requires a password given within the last 15 minutes. All other
 * callers get a 404.
 */
export const admin = { kind: 'admin' } as const;

/** Requires a reseller's session or machine token. With `sessions`, tokens are rejected; `fresh` as for `session`. */
export const reseller = ({ sessions = false, fresh = false } = {}) =>
  ({ kind: 'reseller', sessions, fresh }) as const;

/**
 * Requires a valid API key or a session. With `wholeKeys`, restricted keys are rejected even for reads. With `narrowedKeys`,
 * they are accepted even for writes: the handler applies their restrictions.
 */
export const account = ({ wholeKeys = false, narrowedKeys = false } = {}) =>
  ({ kind: 'account', wholeKeys, narrowedKeys }) as const;

interface DomainOptions {
  /** The part of the request that names the domain: the path with `{domain}` (the default), or the query with `domain`. */
  readonly domainIn?: 'path' | 'query';
  /** The route also works if the domain is disabled. With `wholeKeys`, a read also works if it is banned. */
  readonly whileDisabled?: boolean;
  /** The route writes records: it accepts keys restricted to names or types, and `judgeNarrowing` checks each write. */
  readonly writesRecords?: boolean;
  /**
   * The route is about the whole domain: keys restricted to names or types are rejected even for reads. Unless
   * `whileDisabled` is set, a disabled or banned domain cannot be read.
   */
  readonly wholeKeys?: boolean;
}

/**
 * Requires an API key or a session whose account has the permission on the domain. The guard loads the domain once,
 * before the handler runs.
 */
export const domain = (permission: Permission, options: DomainOptions = {}) =>
  ({
    kind: 'domain',
    permission,
    domainIn: 'path',
    whileDisabled: false,
    writesRecords: false,
    wholeKeys: false,
    part: 'whole',
    ...options,
  }) as const;

/** The same for a route that needs only the head of the domain, which is much cheaper to load. */
export const domainHead = (permission: Permission, options: DomainOptions = {}) =>
  ({ ...domain(permission, options), part: 'head' }) as const;

/** Requires the signature of an observer. */
export const vantage = { kind: 'vantage' } as const;

/** Requires the signature of a payment gateway over the time and the body. */
export const gateway = { kind: 'gateway' } as const;

/** Requires the token of an edge node. Each edge may call the route `perMinute` times in any 60 seconds. */
export const edge = (perMinute: number) => ({ kind: 'edge', perMinute }) as const;

/** The callers that a route accepts. */
export type Access =
  | typeof everyone
  | typeof admin
  | typeof vantage
  | typeof gateway
  | ReturnType<
      typeof session | typeof reseller | typeof account | typeof domain | typeof domainHead | typeof edge
    >;

/** Kinds of access whose routes accept no Idempotency-Key. */
const WITHOUT_KEYS: readonly Access['kind'][] = ['public', 'vantage', 'gateway', 'edge'];

/** How a route that writes is recorded in the audit log. */
type RouteAudit =
  /** The call and its audit row are one transaction. The handler describes the row with `call.audit`. */
  | AuditAction
  /** The handler writes the row in its own transaction. */
  | { readonly inHandler: AuditAction }
  /** The route writes changes of domains, which have their own rows. */
  | 'changes'
  /** The route is not recorded, for this reason. */
  | { readonly none: string };

interface Remaking<Body> {
  readonly api: Api;
  readonly domain: Visible<DomainHead>;
  readonly body: Body;
  readonly headers: Readonly<Record<string, string>>;
  readonly changeId: number | undefined;
  /** Undefined if it was too large to keep, or was deleted to make room. */
  readonly rest: unknown;
}

/** The call that a handler receives, by the access that its route declares. */
type CallWith<A extends Access, P, Q, B, F> = A extends { readonly part: 'head' }
  ? CallOf<'head', P, Q, B, F>
  : CallOf<A['kind'], P, Q, B, F>;

/** The declaration of a route. `R`, `P`, `Q` and `B` are schemas; `F` is what `find` returns. */
interface Declaration<
  A extends Access,
  R extends z.ZodType,
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodType,
  F,
> {
  readonly method: Method;
  /** The path as in OpenAPI, such as `/domains/{domain}/records/{id}`. A final slash is significant. */
  readonly path: string;
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** Path parameters, without `domain`. An invalid value is a 404. */
  readonly params?: P;
  /** Noun for what the path names, used in the message of the 404: `record`. */
  readonly finds?: string;
  /** Query parameters. Unknown ones are rejected; without a schema, all are. */
  readonly query?: Q;
  /** Without a schema, the body must be empty or `{}`. */
  readonly body?: B;
  /**
   * The body may have 32 MiB, or as much as the domain's plan allows, instead of 1 MiB. A large body is handled in a
   * separate thread.
   */
  readonly largeBody?: true;
  /** Maximum size of the body in bytes, if lower than the default. */
  readonly bodyBytes?: number;
  /** Maximum number of records in one call with a large body. */
  readonly maxItems?: number;
  /** Returns true if even a small body is expensive and must be handled in the separate thread. */
  readonly isHeavy?: (body: z.output<B>) => boolean;
  /** The handler itself reads the body, as lines of JSON while they arrive. The body is a `StreamedBody`. */
  readonly streamedBody?: true;
  /** Member of the body that also accepts a text/plain or text/dns body. */
  readonly textBody?: string;
  /** Returns the problem for a body or query that does not match its schema, instead of the default one. */
  readonly explainInvalid?: (fields: readonly FieldProblem[]) => Problem;
  /** Required for every route that writes. */
  readonly audit?: RouteAudit;
  /** True if a PUT or DELETE accepts an Idempotency-Key; false if a POST does not. `required` rejects calls without one. */
  readonly idempotent?: boolean | 'required';
  /** The route moves a reseller's money: its answer is kept whole and forever. */
  readonly keptForEver?: true;
  /** Removes the secrets that are shown only once from the answer that is kept under an Idempotency-Key. */
  readonly withoutSecrets?: (answer: z.output<R>) => z.output<R>;
  /**
   * The route waits for another process, and other writes of the domain do not wait for it. With an Idempotency-Key, only
   * the storing of the answer is a transaction: the handler must find and continue a call that was interrupted.
   */
  readonly waits?: true;
  /** The answer continues for as long as its caller has access. The call can check its caller again. */
  readonly follows?: true;
  /** The handler validates the texts of the body, and rejects only the part that cannot be stored. */
  readonly judgesText?: true;
  /** A POST that writes nothing: its answer is not kept under an Idempotency-Key, and a repeat runs again. */
  readonly writesNothing?: true;
  /** True if a GET changes data. False if another method changes nothing, so that read-only keys may call it. */
  readonly writes?: boolean;
  /** Undefined if the route belongs to this API itself. */
  readonly compat?: CompatSurface;
  /** False if resellers do not call this route of a domain for their clients. */
  readonly forResellers?: false;
  /**
   * Rebuilds an answer that was too large to keep under an Idempotency-Key, from the body, the change and the call's
   * `answerRest`. The result is used only if it equals the first answer. Returns undefined if that is not possible.
   */
  readonly remake?: (call: Remaking<z.output<B>>) => Promise<unknown> | unknown;
  readonly response: R;
  /** Media type of a success that is not JSON: the handler returns a `StreamedText` or `StreamedLines`. */
  readonly textResponse?: string;
  readonly answerHeaders?: readonly AnswerHeader[];
  /** True if long responses are compressed for clients that accept it. Never set it if a response has secrets (BREACH). */
  readonly compresses?: true;
  /** Codes that the handler itself may return, for the description. Those of the guards are added automatically. */
  readonly problems?: readonly ProblemCode[];
  /** True if the handler may return a 409 without a code, for the description. */
  readonly conflicts?: true;
  /** Other statuses without a code, for the description. */
  readonly statuses?: readonly number[];
  /**
   * Loads what the path names. Undefined is a 404. It runs before the guard checks the role, so its 404 or problem
   * precedes the 403 (docs/rules.md "Access").
   */
  readonly find?: A['kind'] extends 'public' | 'vantage' | 'gateway' | 'edge'
    ? never
    : (call: CallWith<A, z.output<P>, unknown, unknown, undefined>) => Promise<F | Problem | undefined>;
  /** Loads what the path names together with the head of the domain. Otherwise the same as `find`. */
  readonly findWithDomain?: A extends { readonly part: 'head' }
    ? (params: z.output<P>) => DomainPart<DomainHead & { readonly found: F | undefined }>
    : never;
  readonly run: (
    call: CallWith<A, z.output<P>, z.output<Q>, z.output<B>, F>,
  ) => Promise<Outcome<R>> | Outcome<R>;
}

/** A success (status 200) or a problem. An array may be streamed by page, and a text by line. */
type Outcome<R extends z.ZodType> =
  | z.input<R>
  | Problem
  | StreamedArray<ItemOf<z.input<R>>>
  | StreamedText
  | StreamedLines;
type ItemOf<A> = A extends readonly (infer I)[] ? I : never;

// biome-ignore lint/suspicious/noExplicitAny: only the mounting code builds the calls and answers of a declared route
type OfSomeRoute = any;

/** A declared route with any schemas. */
export interface Route
  extends Omit<
    Declaration<Access, z.ZodType, z.ZodObject, z.ZodObject, z.ZodType, unknown>,
    'withoutSecrets' | 'remake' | 'find' | 'findWithDomain' | 'run'
  > {
  readonly access: Access;
  readonly withoutSecrets?: (answer: OfSomeRoute) => unknown;
  readonly remake?: (call: Remaking<OfSomeRoute>) => unknown;
  readonly find?: (call: OfSomeRoute) => Promise<unknown>;
  readonly findWithDomain?: (params: OfSomeRoute) => DomainPart<DomainHead & { readonly found: unknown }>;
  readonly run: (call: OfSomeRoute) => unknown;
}

type None = z.ZodObject<Record<never, never>>;

/** Declares a route. The access determines which call `find` and `run` receive. */
export function route<
  A extends Access,
  R extends z.ZodType,
  P extends z.ZodObject = None,
  Q extends z.ZodObject = None,
  B extends z.ZodType = z.ZodUndefined,
  F = undefined,
>(access: A, declaration: Declaration<A, R, P, Q, B, F>): Route {
  return { ...(declaration as unknown as Route), access };
}

/** Reports whether an Idempotency-Key has an effect: by default on every POST of a person or an account. */
export function takesIdempotencyKey({ access, method, idempotent }: Route): boolean {
  return !WITHOUT_KEYS.includes(access.kind) && (idempotent ?? method === 'POST') !== false;
}

/** Returns true if a call of the route may change data. */
export function writesWith(route: Route | undefined, method: string): boolean {
  return route?.writes ?? isWrite(method);
}

export function isWrite(method: string): boolean {
  return method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS';
}
