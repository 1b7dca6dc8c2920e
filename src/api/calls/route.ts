// How a route is declared: as a value that says who may call it, what it takes and what it answers. `mount-routes.ts` puts
// it behind the guards; `openapi.ts` describes it from the same schemas.

import type { z } from 'zod';
import type { AuditAction } from '../../store/audit/audit-actions.ts';
import type { VisibleDomain } from '../../store/domains/domain.ts';
import type { FieldProblem, Problem, ProblemCode } from '../answers/problem.ts';
import type { StreamedArray } from '../answers/stream-array.ts';
import type { StreamedLines } from '../answers/stream-lines.ts';
import type { StreamedText } from '../answers/stream-text.ts';
import type { Permission } from '../callers/permissions.ts';
import type {
  AdminCall,
  AnswerHeader,
  Api,
  Call,
  DomainCall,
  EdgeCall,
  GatewayCall,
  PublicCall,
  ResellerCall,
  SessionCall,
  VantageCall,
} from './call.ts';

/** OPTIONS routes are made by `mountRoutes`. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';

export type Access =
  /** Any observer elsewhere may call it, by its signature; no API key counts. */
  | { readonly kind: 'vantage' }
  /** A payment gateway may call it, by its signature over time and body; nothing else counts. */
  | { readonly kind: 'gateway' }
  /** Edge nodes may call it, by their token; each so many times a minute. */
  | { readonly kind: 'edge'; readonly perMinute: number }
  /** Everyone may call it, with a session or without one; a key may not. */
  | { readonly kind: 'public' }
  /** `fresh`: the password must have been given lately. */
  | { readonly kind: 'session'; readonly fresh: boolean }
  /** The session of a global admin; for writes the password must have been given lately. For others there is no such path. */
  | { readonly kind: 'admin' }
  /** A reseller, by a session or a machine token; `sessions`: by a session only, `fresh` as above. */
  | { readonly kind: 'reseller'; readonly sessions: boolean; readonly fresh: boolean }
  /** Any valid key or session may call it; with `wholeKeys`, no key that is narrowed, also to read. */
  | { readonly kind: 'account'; readonly wholeKeys: boolean }
  | {
      readonly kind: 'domain';
      /** Where the call names the domain; in the query as `domain`. */
      readonly domainIn: 'path' | 'query';
      readonly permission: Permission;
      /** A disabled domain takes this call too; with `wholeKeys`, also a banned one. */
      readonly whileDisabled: boolean;
      /** A write of records: open to keys narrowed to names or types, and judged by `judgeNarrowing`. */
      readonly writesRecords: boolean;
      /** It is about the whole domain: closed to keys narrowed to names or types, reads too. Without `whileDisabled` a read is closed while disabled. */
      readonly wholeKeys: boolean;
    };

/** How a write gets its row in the audit log. Every route that writes says it. */
type RouteAudit =
  /** The call and its row are one transaction; the handler says what the row tells, with `call.audit`. */
  | AuditAction
  /** The handler writes it, in a transaction of its own. */
  | { readonly inHandler: AuditAction }
  /** What it writes are changes of domains, which have their rows. */
  | 'changes'
  /** It has none; the text says why. */
  | { readonly none: string };

interface Remaking<Body> {
  readonly api: Api;
  readonly domain: VisibleDomain;
  readonly body: Body;
  readonly headers: Readonly<Record<string, string>>;
  readonly changeId: number | undefined;
  /** Undefined if even that was too large, or was removed for other answers. */
  readonly rest: unknown;
}

/** The members that every declaration has; `P`, `Q`, `B`, `R` are schemas. */
interface Declaration<
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodType,
  R extends z.ZodType,
> {
  readonly method: Method;
  /** The path as in OpenAPI: `/domains/{domain}/records/{id}`. The final slash counts. */
  readonly path: string;
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** The parameters of the path, without `domain`. A value that does not fit is a 404. */
  readonly params?: P;
  /** The name of what the path names, in the 404: `record`. */
  readonly finds?: string;
  /** Unknown parameters are refused. Without a schema there are none. */
  readonly query?: Q;
  /** Without a schema only an empty body or `{}` is accepted. */
  readonly body?: B;
  /**
   * The body may have 32 MiB instead of 1 MiB, or what the domain's plan allows; a large one is handled in a thread of
   * its own.
   */
  readonly largeBody?: true;
  /** The most bytes of the body, if less than others may have. */
  readonly bodyBytes?: number;
  /** The most records in one call with a large body. */
  readonly maxItems?: number;
  /** Whether a small body is much work too: then the thread does it as well. */
  readonly isHeavy?: (body: z.output<B>) => boolean;
  /** The handler reads the body itself, as lines of JSON, as they arrive: it is a `StreamedBody`. */
  readonly streamedBody?: true;
  /** A body of text/plain or text/dns is accepted too, as this member of the body. */
  readonly textBody?: string;
  /** Explains the faults that the schemas found in a way of its own. */
  readonly explainInvalid?: (fields: readonly FieldProblem[]) => Problem;
  /** Every route that writes has it. */
  readonly audit?: RouteAudit;
  /** True: this PUT or DELETE takes an Idempotency-Key, as every POST does. False: this POST takes none. `required`: none without. */
  readonly idempotent?: boolean | 'required';
  /** It moves a reseller's money: its answer is kept for ever, and whole. */
  readonly keptForEver?: true;
  /** The answer as it is kept under an Idempotency-Key: without what is shown once. */
  readonly withoutSecrets?: (answer: z.output<R>) => z.output<R>;
  /**
   * The route waits for another process. The domain's other writes do not wait for it, and with an Idempotency-Key only
   * its answer is kept in a transaction: the handler itself must find again what a call began that never got its
   * answer.
   */
  readonly waits?: true;
  /** The answer goes on for as long as its caller may have it: the call can have its caller judged again. */
  readonly follows?: true;
  /** The handler judges the body's texts, and refuses only the part that cannot be stored. */
  readonly judgesText?: true;
  /** A POST that writes nothing: its answer is not kept under an Idempotency-Key, and a repeat is answered anew. */
  readonly writesNothing?: true;
  /**
   * Makes an answer again that was not kept whole under an Idempotency-Key: from the request's body, the change, and
   * the `answerRest` of the call. It is used only if it equals the answer that was given. Undefined: it cannot be made.
   */
  readonly remake?: (call: Remaking<z.output<B>>) => Promise<unknown> | unknown;
  readonly response: R;
  /** The media type of a success that is not JSON: a `StreamedText`. */
  readonly textResponse?: string;
  readonly answerHeaders?: readonly AnswerHeader[];
  /** Codes that the handler itself may answer, for the description; those of the guards are known. */
  readonly problems?: readonly ProblemCode[];
  /** It may answer a 409 that has no code, for the description too. */
  readonly conflicts?: true;
  /** Further statuses without a code, for the description. */
  readonly statuses?: readonly number[];
}

/** A success, always 200; or a problem; or an array page by page, or a text line by line. */
type Outcome<R extends z.ZodType> =
  | z.input<R>
  | Problem
  | StreamedArray<ItemOf<z.input<R>>>
  | StreamedText
  | StreamedLines;
type ItemOf<A> = A extends readonly (infer I)[] ? I : never;

interface AccountRoute<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType, R extends z.ZodType>
  extends Declaration<P, Q, B, R> {
  readonly wholeKeys?: true;
  readonly run: (call: Call<z.output<P>, z.output<Q>, z.output<B>>) => Promise<Outcome<R>> | Outcome<R>;
}

interface PublicRoute<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType, R extends z.ZodType>
  extends Declaration<P, Q, B, R> {
  readonly run: (call: PublicCall<z.output<P>, z.output<Q>, z.output<B>>) => Promise<Outcome<R>> | Outcome<R>;
}

interface SessionRoute<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType, R extends z.ZodType>
  extends Declaration<P, Q, B, R> {
  /** The password must have been given within 15 minutes. */
  readonly fresh?: true;
  readonly run: (
    call: SessionCall<z.output<P>, z.output<Q>, z.output<B>>,
  ) => Promise<Outcome<R>> | Outcome<R>;
}

interface AdminRoute<
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodType,
  R extends z.ZodType,
  F,
> extends Declaration<P, Q, B, R> {
  /** Loads what the path names. Undefined is a 404. */
  readonly find?: (call: AdminCall<z.output<P>, unknown, unknown, undefined>) => Promise<F | undefined>;
  readonly run: (
    call: AdminCall<z.output<P>, z.output<Q>, z.output<B>, F>,
  ) => Promise<Outcome<R>> | Outcome<R>;
}

interface ResellerRoute<
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodType,
  R extends z.ZodType,
  F,
> extends Declaration<P, Q, B, R> {
  /** Machine tokens may not call it. */
  readonly sessions?: true;
  /** The password must have been given within 15 minutes. */
  readonly fresh?: true;
  /** Loads what the path names. Undefined is a 404. */
  readonly find?: (
    call: ResellerCall<z.output<P>, unknown, unknown, undefined>,
  ) => Promise<F | Problem | undefined>;
  /** The name of what is looked for, in the 404: `token`. */
  readonly finds?: string;
  readonly run: (
    call: ResellerCall<z.output<P>, z.output<Q>, z.output<B>, F>,
  ) => Promise<Outcome<R>> | Outcome<R>;
}

interface DomainRoute<
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodType,
  R extends z.ZodType,
  F,
> extends Declaration<P, Q, B, R> {
  readonly permission: Permission;
  /** The query names the domain, as `domain`, instead of the path. */
  readonly domainIn?: 'query';
  readonly whileDisabled?: true;
  readonly writesRecords?: true;
  readonly wholeKeys?: true;
  /**
   * Loads what the path names inside the domain. Undefined is a 404, as a problem is, which comes before the 403 of the role
   * (docs/rules.md "Access").
   */
  readonly find?: (
    call: DomainCall<z.output<P>, unknown, unknown, undefined>,
  ) => Promise<F | Problem | undefined>;
  readonly run: (
    call: DomainCall<z.output<P>, z.output<Q>, z.output<B>, F>,
  ) => Promise<Outcome<R>> | Outcome<R>;
}

/** A declared route with any schemas. */
export interface Route
  extends Omit<Declaration<z.ZodObject, z.ZodObject, z.ZodType, z.ZodType>, 'remake' | 'withoutSecrets'> {
  // biome-ignore lint/suspicious/noExplicitAny: the answer of some route
  readonly withoutSecrets?: (answer: any) => unknown;
  // biome-ignore lint/suspicious/noExplicitAny: the body of a call of some route
  readonly remake?: (call: Remaking<any>) => unknown;
  readonly access: Access;
  readonly find?: (call: AnyDomainCall) => Promise<unknown>;
  readonly run: (call: AnyDomainCall) => unknown;
}

// The schemas of a declaration make its call; once declared, only the mounting code builds such calls.
// biome-ignore lint/suspicious/noExplicitAny: the type of a call of some route
type AnyDomainCall = any;

type None = z.ZodObject<Record<never, never>>;
type NoBody = z.ZodUndefined;

/** Declares a route for everyone: a session may be there or not. It takes no Idempotency-Key. */
export function publicRoute<
  R extends z.ZodType,
  P extends z.ZodObject = None,
  Q extends z.ZodObject = None,
  B extends z.ZodType = NoBody,
>(route: PublicRoute<P, Q, B, R>): Route {
  return { ...(route as unknown as Route), access: { kind: 'public' }, idempotent: false };
}

/** Declares a route for people who have signed in. */
export function sessionRoute<
  R extends z.ZodType,
  P extends z.ZodObject = None,
  Q extends z.ZodObject = None,
  B extends z.ZodType = NoBody,
>({ fresh = false as never, ...route }: SessionRoute<P, Q, B, R>): Route {
  return { ...(route as unknown as Route), access: { kind: 'session', fresh } };
}

/** Declares a route for global admins, who have signed in. */
export function adminRoute<
  R extends z.ZodType,
  P extends z.ZodObject = None,
  Q extends z.ZodObject = None,
  B extends z.ZodType = NoBody,
  F = undefined,
>(route: AdminRoute<P, Q, B, R, F>): Route {
  return { ...(route as unknown as Route), access: { kind: 'admin' } };
}

/** Declares a route of resellers. */
export function resellerRoute<
  R extends z.ZodType,
  P extends z.ZodObject = None,
  Q extends z.ZodObject = None,
  B extends z.ZodType = NoBody,
  F = undefined,
>(route: ResellerRoute<P, Q, B, R, F>): Route {
  const { sessions = false as never, fresh = false as never, ...rest } = route;
  return { ...(rest as unknown as Route), access: { kind: 'reseller', sessions, fresh } };
}

/** Declares a route for any valid key or session. */
export function accountRoute<
  R extends z.ZodType,
  P extends z.ZodObject = None,
  Q extends z.ZodObject = None,
  B extends z.ZodType = NoBody,
>({ wholeKeys = false as never, ...route }: AccountRoute<P, Q, B, R>): Route {
  return { ...(route as unknown as Route), access: { kind: 'account', wholeKeys } };
}

/**
 * Declares a route for keys whose account has the permission on the domain of the path (`{domain}`) or of the query, which
 * is loaded once, before the handler runs.
 */
export function domainRoute<
  R extends z.ZodType,
  P extends z.ZodObject = None,
  Q extends z.ZodObject = None,
  B extends z.ZodType = NoBody,
  F = undefined,
>(route: DomainRoute<P, Q, B, R, F>): Route {
  const { permission, domainIn = 'path', ...others } = route;
  const { whileDisabled = false, writesRecords = false, wholeKeys = false, ...rest } = others;
  return {
    ...(rest as unknown as Route),
    access: { kind: 'domain', domainIn, permission, whileDisabled, writesRecords, wholeKeys },
  };
}

interface VantageRoute<B extends z.ZodType, R extends z.ZodType> extends Declaration<None, None, B, R> {
  readonly run: (call: VantageCall<z.output<B>>) => Promise<z.input<R> | Problem>;
}

/** Declares a route for observers elsewhere. */
export function vantageRoute<B extends z.ZodType, R extends z.ZodType>(route: VantageRoute<B, R>): Route {
  return { ...(route as unknown as Route), access: { kind: 'vantage' } };
}

interface GatewayRoute<P extends z.ZodObject, B extends z.ZodType, R extends z.ZodType>
  extends Declaration<P, None, B, R> {
  readonly run: (call: GatewayCall<z.output<B>>) => Promise<z.input<R> | Problem>;
}

/** Declares a route for payment gateways. It takes no Idempotency-Key. */
export function gatewayRoute<P extends z.ZodObject, B extends z.ZodType, R extends z.ZodType>(
  route: GatewayRoute<P, B, R>,
): Route {
  return { ...(route as unknown as Route), access: { kind: 'gateway' }, idempotent: false };
}

interface EdgeRoute<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType, R extends z.ZodType>
  extends Declaration<P, Q, B, R> {
  /** How many times an edge may call it in any 60 seconds. */
  readonly perMinute: number;
  readonly run: (
    call: EdgeCall<z.output<P>, z.output<Q>, z.output<B>>,
  ) => Promise<z.input<R> | Problem | StreamedLines>;
}

/** Declares a route for edge nodes. It takes no Idempotency-Key. */
export function edgeRoute<
  R extends z.ZodType,
  P extends z.ZodObject = None,
  Q extends z.ZodObject = None,
  B extends z.ZodType = NoBody,
>({ perMinute, ...route }: EdgeRoute<P, Q, B, R>): Route {
  return { ...(route as unknown as Route), access: { kind: 'edge', perMinute }, idempotent: false };
}

/** Whether an Idempotency-Key counts: on every POST, unless the route says otherwise. */
export function takesIdempotencyKey({ access, method, idempotent }: Route): boolean {
  return access.kind !== 'vantage' && (idempotent ?? method === 'POST') !== false;
}

export function isWrite(method: string): boolean {
  return method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS';
}
