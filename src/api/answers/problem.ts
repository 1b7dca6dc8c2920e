// Responses to refused calls. All error bodies and codes of the API are defined here. Guards and routes return a
// problem as a value. Only bugs and failed dependencies throw.

import { GATE_REFUSALS } from '../../billing/gates.ts';

/** Every code and its status. Other errors have no code. A code never changes its status. */
export const PROBLEM_CODES = {
  ...GATE_REFUSALS,
  validation_failed: 400,
  wrong_state: 400,
  address_refused: 400,
  otp_required: 401,
  credit_limit_reached: 402,
  account_suspended: 403,
  foreign_origin: 403,
  reauthenticate: 403,
  oidc_required: 403,
  oidc_refused: 403,
  managed_by_reseller: 403,
  invite_email_mismatch: 403,
  domain_banned: 403,
  unknown_rule_type: 404,
  domain_disabled: 409,
  domain_secondary: 409,
  analytics_off: 404,
  domain_taken: 409,
  domain_ambiguous: 409,
  record_conflict: 409,
  record_managed: 409,
  dnssec_busy: 409,
  dnssec_verbatim: 409,
  dnssec_algorithm: 409,
  dnssec_imported: 409,
  tsig_key_in_use: 409,
  idempotency_mismatch: 422,
  rate_limited: 429,
  ns_check_limited: 429,
  dnssec_check_limited: 429,
  ssl_limited: 429,
  session_check_failed: 503,
  dnssec_unavailable: 503,
  oidc_unavailable: 503,
  ssl_unavailable: 503,
  tsig_unavailable: 503,
} as const;

export type ProblemCode = keyof typeof PROBLEM_CODES;

export interface FieldProblem {
  /** Path of the field in the body: `records[2].destination`. */
  readonly field: string;
  readonly error: string;
}

export interface ItemProblem {
  readonly list: string;
  readonly index: number;
  readonly field?: string;
  readonly error: string;
}

/** Members of an error body besides `error` and `code` (docs/api.md "Errors"). */
export interface ProblemMembers {
  readonly fields?: readonly FieldProblem[];
  readonly items?: readonly ItemProblem[];
  readonly limit?: number;
  /** The domains from which a global admin has to choose. */
  readonly domains?: readonly { readonly id: number; readonly user_id: number; readonly status: string }[];
  /** The limits of another plan that a domain exceeds. */
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
  /** Human-readable message, only for removed routes, whose `error` is a fixed word for programs. */
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

/** A problem with a code, which determines its status. */
export function problem(code: ProblemCode, error: string, members: ProblemMembers = {}): Problem {
  return new Problem(PROBLEM_CODES[code], error, { code, members });
}

/** The name cannot become the caller's. `retryAfterSeconds` is set if too many domains wait for it. */
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

/** A 400 `validation_failed`. Its `error` contains the first field and the number of others. */
export function invalid(fields: readonly FieldProblem[], items?: readonly ItemProblem[]): Problem {
  return problem('validation_failed', summarize(fields), { fields, ...(items !== undefined && { items }) });
}

/** Validation stops after this many problems. */
export const MAX_PROBLEMS = 20;

function summarize(fields: readonly FieldProblem[]): string {
  const [first] = fields;
  if (first === undefined) return 'the request is not valid';
  const { field, error } = first;
  const text = error.startsWith(`${field}: `) ? error : `${field}: ${error}`;
  const others = new Set(fields.map((each) => each.field)).size - 1;
  if (others === 0) return text;
  return `${text} (and ${fields.length < MAX_PROBLEMS ? '' : 'at least '}${others} more)`;
}

export function badRequest(error: string): Problem {
  return new Problem(400, error);
}

/** A 401. The text does not depend on what is wrong with the key, so that it does not reveal which keys exist. */
export function unauthorized(error = 'a valid API key is required'): Problem {
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

/** Too many calls that check passwords are running. */
export function tooBusy(): Problem {
  return unavailable('too many sign-ins are in progress; try again', 2);
}

/** Message for a write whose outcome is not known. */
export const MAY_BE_DONE =
  'this call may have been carried out: check its result, or repeat it with the same Idempotency-Key';
