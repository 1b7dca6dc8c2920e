// Lists the problems with which a route can respond: those of its guards, and those that it declares.

import { PROBLEM_CODES, type ProblemCode } from '../answers/problem.ts';
import { isWrite, type Route, takesIdempotencyKey } from './route.ts';
import { isResellerPath } from './surfaces.ts';

export interface Refusal {
  readonly status: number;
  readonly words: string;
  readonly codes: readonly ProblemCode[];
}

export const WORDS: Readonly<Record<number, string>> = {
  400: 'The request is not valid, or the domain is not in the required state.',
  401: 'The credential is missing, malformed, unknown, revoked, expired or ended.',
  402: 'The domain has no active plan (analytics and imports), or the balance of the wallet is too low.',
  403: 'The key, the session, the role or the plan does not allow it.',
  404: 'The item does not exist, or you may not see it.',
  409: 'The request conflicts with the current state.',
  422: 'The Idempotency-Key was used for another request.',
  429: 'Too many requests.',
  500: 'Internal error. Report it with the request id.',
  503: 'A part of the service is unavailable. Try again.',
};

const VANTAGE_WORDS: Readonly<Record<number, string>> = {
  400: 'The request is not valid.',
  401: "The signature is missing or wrong, its time differs too much from the server's, its nonce was used before, its digest does not match the body, or the observer is unknown.",
};

const GATEWAY_WORDS: Readonly<Record<number, string>> = {
  400: 'The request is not valid.',
  401: "The signature is missing or wrong, its time differs too much from the server's, or the gateway is unknown.",
  409: 'The amount differs from the ordered one.',
};

const EDGE_WORDS: Readonly<Record<number, string>> = {
  400: 'The request is not valid.',
  401: 'The edge token is missing, malformed, unknown or revoked.',
  403: 'The connection is not private: others could read it.',
  413: 'The body is too large.',
  415: 'The type of the body is not supported.',
  422: 'The content of the body does not match its declaration.',
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
  return [400, 401, 403, 429, 500, 503, ...(named ? [404] : [])]; // 400: repeated credential header
}

function guardCodes(route: Route): ProblemCode[] {
  const { access, method } = route;
  const writes = isWrite(method);
  if (access.kind === 'vantage' || access.kind === 'gateway' || access.kind === 'edge')
    return ['validation_failed'];
  const codes: ProblemCode[] = ['validation_failed']; // any route rejects unknown parameters
  if (isResellerPath(route.path)) codes.push('rate_limited');
  const isOfSessions = access.kind === 'session' || access.kind === 'reseller';
  const isFresh = access.kind === 'admin' ? writes : isOfSessions && access.fresh;
  if (isFresh) codes.push('reauthenticate');
  if (takesIdempotencyKey(route)) codes.push('idempotency_mismatch');
  if (access.kind === 'domain' && (writes || (access.wholeKeys && !access.whileDisabled))) {
    codes.push('domain_banned');
    if (!access.whileDisabled) codes.push('domain_disabled');
  }
  // A global admin may write any domain, and several accounts may have the name. Resellers use ids.
  if (access.kind === 'domain' && writes && !isResellerPath(route.path)) codes.push('domain_ambiguous');
  return codes;
}
