// How a route is declared: as a value that says who may call it, what it takes and what it answers. `mount-routes.ts` puts
// it behind the guards; `openapi.ts` describes it from the same schemas.

import type { z } from 'zod';
import type { VisibleDomain } from '../store/domain.ts';
import type { Api, Call, DomainCall } from './call.ts';
import type { Permission } from './permissions.ts';
import type { FieldProblem, Problem, ProblemCode } from './problem.ts';
import type { StreamedArray } from './stream-array.ts';
import type { StreamedText } from './stream-text.ts';

/** OPTIONS routes are made by `mountRoutes`. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';

export type Access =
  | { readonly kind: 'public' }
  /** Any valid key. */
  | { readonly kind: 'account' }
  | {
      readonly kind: 'domain';
      readonly permission: Permission;
      /** A write that a disabled domain still takes. */
      readonly whileDisabled: boolean;
      /** A write of records: open to keys narrowed to names or types, and judged by `judgeNarrowing`. */
      readonly writesRecords: boolean;
      /** Closed to keys narrowed to names or types, reads too: it has others do work for the whole domain. */
      readonly wholeKeys: boolean;
    };

/** What callers may learn from the headers of a success. */
export type AnswerHeader =
  | 'X-Change-Id'
  | 'X-Zone-Serial'
  | 'Link'
  | 'X-Total-Count'
  | 'Allow'
  | 'Content-Disposition';

export interface Remaking<Body> {
  readonly api: Api;
  readonly domain: VisibleDomain;
  readonly body: Body;
  readonly headers: Readonly<Record<string, string>>;
  readonly changeId: number | undefined;
  /** Undefined where even that was too large, or gave way to others' answers. */
  readonly rest: unknown;
}

/** What every declaration has; `P`, `Q`, `B`, `R` are schemas. */
interface Declaration<
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodType,
  R extends z.ZodType,
> {
  readonly method: Method;
  /** As in OpenAPI: `/domains/{domain}/records/{id}`. The final slash counts. */
  readonly path: string;
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** Of the path, without `domain`. A value that does not fit is a 404. */
  readonly params?: P;
  /** Unknown parameters are ignored unless the schema is strict. */
  readonly query?: Q;
  /** Without one only an empty body or `{}` is taken. */
  readonly body?: B;
  /** 32 MiB instead of 1 MiB, or what the domain's plan allows; a large one is worked on in a thread of its own. */
  readonly largeBody?: true;
  /** Records in one call of a large body, at most. */
  readonly maxItems?: number;
  /** A small body can be much work as well: then it is done in the thread too. */
  readonly isHeavy?: (body: z.output<B>) => boolean;
  /** A body of text/plain or text/dns is taken as well: as this member of the body. */
  readonly textBody?: string;
  /** Says in its own way what the schemas found wrong. */
  readonly explainInvalid?: (fields: readonly FieldProblem[]) => Problem;
  /** PUT and DELETE that take an Idempotency-Key; every POST does. */
  readonly idempotent?: true;
  /**
   * It waits for what another process does. A domain's other writes do not wait for it, and with an Idempotency-Key only
   * its answer is kept in a transaction: finding again what a call began that never got its answer is up to the handler.
   */
  readonly waits?: true;
  /** The handler judges the body's texts, and refuses no more than the part of it that cannot be stored. */
  readonly judgesText?: true;
  /** A POST that writes nothing: its answer is not kept under an Idempotency-Key, a repeat is answered anew. */
  readonly writesNothing?: true;
  /**
   * Makes an answer again that was not kept whole under an Idempotency-Key: from the request's body, the change, and the
   * `answerRest` of the call. It counts only if it is the answer that was given. Undefined: it cannot.
   */
  readonly remake?: (call: Remaking<z.output<B>>) => Promise<unknown> | unknown;
  readonly response: R;
  /** The media type of a success that is no JSON: a `StreamedText`. */
  readonly textResponse?: string;
  readonly answerHeaders?: readonly AnswerHeader[];
  /** Codes that the handler itself may answer with, for the description; those of the guards are known. */
  readonly problems?: readonly ProblemCode[];
}

/** A success, always 200; or why not; or the members of an array or the lines of a text as they come. */
export type Outcome<R extends z.ZodType> =
  | z.input<R>
  | Problem
  | StreamedArray<ItemOf<z.input<R>>>
  | StreamedText;
type ItemOf<A> = A extends readonly (infer I)[] ? I : never;

export interface AccountRoute<
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodType,
  R extends z.ZodType,
> extends Declaration<P, Q, B, R> {
  readonly run: (call: Call<z.output<P>, z.output<Q>, z.output<B>>) => Promise<Outcome<R>> | Outcome<R>;
}

export interface DomainRoute<
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodType,
  R extends z.ZodType,
  F,
> extends Declaration<P, Q, B, R> {
  readonly permission: Permission;
  readonly whileDisabled?: true;
  readonly writesRecords?: true;
  readonly wholeKeys?: true;
  /** Loads what the path names inside the domain; undefined is a 404, told before the permission (api.md "Errors"). */
  readonly find?: (call: DomainCall<z.output<P>, unknown, unknown, undefined>) => Promise<F | undefined>;
  /** What was looked for, in the 404: `record`. */
  readonly finds?: string;
  readonly run: (
    call: DomainCall<z.output<P>, z.output<Q>, z.output<B>, F>,
  ) => Promise<Outcome<R>> | Outcome<R>;
}

/** A declared route, whatever its schemas. */
export interface Route extends Omit<Declaration<z.ZodObject, z.ZodObject, z.ZodType, z.ZodType>, 'remake'> {
  // biome-ignore lint/suspicious/noExplicitAny: the body of a call of some route
  readonly remake?: (call: Remaking<any>) => unknown;
  readonly access: Access;
  readonly find?: (call: AnyDomainCall) => Promise<unknown>;
  readonly finds?: string;
  readonly run: (call: AnyDomainCall) => unknown;
}

// The schemas of a declaration make its call; once declared, only the mounting code builds such calls.
// biome-ignore lint/suspicious/noExplicitAny: the type of a call of some route
type AnyDomainCall = any;

type None = z.ZodObject<Record<never, never>>;
type NoBody = z.ZodUndefined;

/** For any valid key. */
export function accountRoute<
  R extends z.ZodType,
  P extends z.ZodObject = None,
  Q extends z.ZodObject = None,
  B extends z.ZodType = NoBody,
>(route: AccountRoute<P, Q, B, R>): Route {
  return { ...(route as unknown as Route), access: { kind: 'account' } };
}

/** Readable without a key. */
export function publicRoute<R extends z.ZodType>(
  route: Omit<AccountRoute<None, None, NoBody, R>, 'params' | 'query' | 'body'>,
): Route {
  return { ...(route as unknown as Route), access: { kind: 'public' } };
}

/** For keys whose account has the permission on `{domain}`, which is loaded once, before the handler runs. */
export function domainRoute<
  R extends z.ZodType,
  P extends z.ZodObject = None,
  Q extends z.ZodObject = None,
  B extends z.ZodType = NoBody,
  F = undefined,
>(route: DomainRoute<P, Q, B, R, F>): Route {
  const { permission, whileDisabled = false, writesRecords = false, wholeKeys = false, ...rest } = route;
  return {
    ...(rest as unknown as Route),
    access: { kind: 'domain', permission, whileDisabled, writesRecords, wholeKeys },
  };
}

/** Whether an Idempotency-Key counts: on every POST, elsewhere where the route says so. */
export function takesIdempotencyKey({ method, idempotent }: Route): boolean {
  return method === 'POST' || idempotent === true;
}

export function isWrite(method: string): boolean {
  return method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS';
}
