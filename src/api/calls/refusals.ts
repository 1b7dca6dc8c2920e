// Lists the problems that a route can answer with: those of its guards, from its declaration, and those that it declares itself.

import { PROBLEM_CODES, type ProblemCode } from '../answers/problem.ts';
import { isWrite, type Route, takesIdempotencyKey } from './route.ts';
import { isResellerPath } from './surfaces.ts';

export interface Refusal {
  readonly status: number;
  readonly words: string;
  readonly codes: readonly ProblemCode[];
}

export const WORDS: Readonly<Record<number, string>> = {
  400: 'The request is not valid, or the domain is not in the state that it needs.',
  401: 'No credential, or one that is malformed, unknown, revoked, expired or ended.',
  402: 'The domain has no active plan (analytics and imports), or the wallet holds too little.',
  403: 'The key, the session, the role or the plan does not allow it.',
  404: 'There is no such thing for you.',
  409: 'It conflicts with what is there.',
  422: 'The Idempotency-Key was used for another request.',
  429: 'Too many requests.',
  500: 'A fault of the service. Report it with the request id.',
  503: 'Something that the service needs is not there. Try again.',
};

const VANTAGE_WORDS: Readonly<Record<number, string>> = {
  400: 'The request is not valid.',
  401: 'The signature is missing or wrong, its time is not ours, its nonce was used, its digest is not that of the body, or there is no such observer.',
};

const GATEWAY_WORDS: Readonly<Record<number, string>> = {
  400: 'The request is not valid.',
  401: 'The signature is missing or wrong, its time is not ours, or there is no such gateway.',
  409: 'It names another amount than was ordered.',
};

const EDGE_WORDS: Readonly<Record<number, string>> = {
  400: 'The request is not valid.',
  401: 'No token of an edge, or one that is malformed, unknown or revoked.',
  403: 'The connection is one that others could read.',
  413: 'The body is too large.',
  415: 'The body is of a type that is not taken.',
  422: 'The body is not what it says.',
};

export function refusalsOf(route: Route): Refusal[] {
  const codes = [...guardCodes(route), ...(route.problems ?? [])];
  const own = [
    ...codes.map((code) => PROBLEM_CODES[code]),
    ...(route.conflicts === true ? [409] : []),
    ...(route.statuses ?? []),
  ];
  const statuses = new Set([...guardStatuses(route), ...own]);
  return [...statuses]
    .sort((a, b) => a - b)
    .map((status) => ({
      status,
      words: ownWords(route)[status] ?? (WORDS[status] as string),
      codes: [...new Set(codes.filter((code) => PROBLEM_CODES[code] === status))],
    }));
}

function ownWords({ access }: Route): Readonly<Record<number, string>> {
  if (access.kind === 'vantage') return VANTAGE_WORDS;
  if (access.kind === 'gateway') return GATEWAY_WORDS;
  return access.kind === 'edge' ? EDGE_WORDS : {};
}

function guardStatuses({ access, params }: Route): number[] {
  if (access.kind === 'vantage') return [400, 401, 429, 500, 503];
  if (access.kind === 'gateway') return [400, 401, 404, 429, 500, 503];
  if (access.kind === 'edge') return [400, 401, 429, 500, 503, ...(params === undefined ? [] : [403, 404])];
  const named = access.kind === 'domain' || params !== undefined;
  return [400, 401, 403, 429, 500, 503, ...(named ? [404] : [])]; // 400: two keys in one request
}

function guardCodes(route: Route): ProblemCode[] {
  const { access, method } = route;
  const writes = isWrite(method);
  if (access.kind === 'vantage' || access.kind === 'gateway' || access.kind === 'edge')
    return ['validation_failed'];
  const codes: ProblemCode[] = ['validation_failed']; // unknown parameters at least
  if (isResellerPath(route.path)) codes.push('rate_limited');
  const isOfSessions = access.kind === 'session' || access.kind === 'reseller';
  const isFresh = access.kind === 'admin' ? writes : isOfSessions && access.fresh;
  if (isFresh) codes.push('reauthenticate');
  if (takesIdempotencyKey(route)) codes.push('idempotency_mismatch');
  if (access.kind === 'domain' && (writes || (access.wholeKeys && !access.whileDisabled))) {
    codes.push('domain_banned');
    if (!access.whileDisabled) codes.push('domain_disabled');
  }
  // A global admin may write any domain, and several accounts may have the name. Resellers name domains by id.
  if (access.kind === 'domain' && writes && !isResellerPath(route.path)) codes.push('domain_ambiguous');
  return codes;
}
