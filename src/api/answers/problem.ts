// Responses to refused calls. All error bodies and codes of the API are defined here. Guards and routes return a problem as a
// value; only a bug or a failed dependency is thrown.

import type { FastifyReply } from 'fastify';
import { GATE_REFUSALS } from '../../billing/gates.ts';

/** Every code and its status. No other error has a code, and a code never changes its status. */
export const PROBLEM_CODES = {
  ...GATE_REFUSALS,
  validation_failed: 400,
  wrong_state: 400,
  otp_required: 401,
  credit_limit_reached: 402,
  account_suspended: 403,
  foreign_origin: 403,
  reauthenticate: 403,
  managed_by_reseller: 403,
  invite_email_mismatch: 403,
  domain_banned: 403,
  unknown_rule_type: 404,
  domain_disabled: 409,
  domain_taken: 409,
  domain_ambiguous: 409,
  record_conflict: 409,
  record_managed: 409,
  dnssec_busy: 409,
  dnssec_verbatim: 409,
  dnssec_algorithm: 409,
  dnssec_imported: 409,
  idempotency_mismatch: 422,
  rate_limited: 429,
  ns_check_limited: 429,
  dnssec_check_limited: 429,
  ssl_limited: 429,
  session_check_failed: 503,
  dnssec_unavailable: 503,
  ssl_unavailable: 503,
} as const;

export type ProblemCode = keyof typeof PROBLEM_CODES;

export interface FieldProblem {
  /** The field's place in the body: `records[2].destination`. */
  readonly field: string;
  readonly error: string;
}

export interface ItemProblem {
  readonly list: string;
  readonly index: number;
  readonly field?: string;
  readonly error: string;
}

/** Members of an error body beside `error` and `code` (docs/api.md "Refusals"). */
export interface ProblemMembers {
  readonly fields?: readonly FieldProblem[];
  readonly items?: readonly ItemProblem[];
  readonly limit?: number;
  /** The domains among which a global admin has to choose. */
  readonly domains?: readonly { readonly id: number; readonly user_id: number; readonly status: string }[];
  /** Of what a domain uses more than another plan allows. */
  readonly above?: readonly {
    readonly limit: string;
    readonly what: string;
    readonly used: number;
    readonly allowed: number;
  }[];
  /** With `plan_feature`: the entitlement that is missing. */
  readonly feature?: string;
  /** With `invite_email_mismatch`: the invited email, masked. */
  readonly invited_email?: string;
  /** For removed routes: the text for people, since `error` is a word for machines there. */
  readonly message?: string;
}

export class Problem {
  readonly status: number;
  readonly error: string;
  readonly code: ProblemCode | undefined;
  readonly members: ProblemMembers;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    error: string,
    more: { code?: ProblemCode; members?: ProblemMembers; headers?: Record<string, string> } = {},
  ) {
    this.status = status;
    this.error = error;
    this.code = more.code;
    this.members = more.members ?? {};
    this.headers = more.headers ?? {};
  }

  get body(): object {
    return {
      error: this.error,
      ...(this.code === undefined ? {} : { code: this.code }),
      ...this.members,
    };
  }
}

/** A problem with a code, which decides its status. */
export function problem(code: ProblemCode, error: string, members: ProblemMembers = {}): Problem {
  return new Problem(PROBLEM_CODES[code], error, { code, members });
}

/** The name cannot be the caller's. `retryAfterSeconds`: as many domains as may wait for it do so now. */
export function domainTaken({
  message,
  retryAfterSeconds,
}: {
  readonly message: string;
  readonly retryAfterSeconds?: number | undefined;
}): Problem {
  return new Problem(PROBLEM_CODES.domain_taken, message, {
    code: 'domain_taken',
    ...(retryAfterSeconds !== undefined && { headers: { 'Retry-After': String(retryAfterSeconds) } }),
  });
}

/** A 400 `validation_failed`: `error` has the first field, and how many others there are. */
export function invalid(fields: readonly FieldProblem[], items?: readonly ItemProblem[]): Problem {
  return problem('validation_failed', summarize(fields), { fields, ...(items !== undefined && { items }) });
}

/** No more problems are looked for. */
export const MAX_PROBLEMS = 20;

function summarize(fields: readonly FieldProblem[]): string {
  const [first] = fields;
  if (first === undefined) return 'the request is not valid';
  const { field, error } = first;
  const told = error.startsWith(`${field}: `) ? error : `${field}: ${error}`;
  const others = new Set(fields.map((each) => each.field)).size - 1;
  if (others === 0) return told;
  return `${told} (and ${fields.length < MAX_PROBLEMS ? '' : 'at least '}${others} more)`;
}

export function badRequest(error: string): Problem {
  return new Problem(400, error);
}

/** A 401. The text is the same whatever is wrong with the key, so that it does not reveal which keys exist. */
export function unauthorized(error = 'a valid API key is needed'): Problem {
  return new Problem(401, error, { headers: { 'WWW-Authenticate': 'Bearer' } });
}

export function forbidden(error: string): Problem {
  return new Problem(403, error);
}

export function notFound(what: string): Problem {
  return new Problem(404, `${what} not found`);
}

export function unavailable(error: string, retryAfterSeconds: number): Problem {
  return new Problem(503, error, { headers: { 'Retry-After': String(retryAfterSeconds) } });
}

/** Too many calls with passwords are under way. */
export function tooBusy(): Problem {
  return unavailable('too many people sign in at once; try again', 2);
}

export function sendProblem(reply: FastifyReply, { status, body, headers }: Problem): FastifyReply {
  return reply
    .code(status)
    .headers(headers)
    .header('Content-Type', 'application/json; charset=utf-8')
    .serializer(JSON.stringify) // not the schema of the success
    .send(body);
}

/** The text for a write whose outcome is not known. */
export const MAY_BE_DONE =
  'this call may have been carried out: check, or repeat it with the same Idempotency-Key';
