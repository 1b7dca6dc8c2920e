// The surface of resellers: everything below `/reseller/v1`. Most of it are the calls of customers, for a client's domain by
// its number.

import { z } from 'zod';
import { forbidden, type Problem } from '../answers/problem.ts';
import type { ApiCaller } from '../callers/caller.ts';
import type { Route } from './route.ts';

const RESELLER_PREFIX = '/reseller/v1';

const PATHS = /^\/reseller\/v1(\/|$)/;

/** `path` is decoded as the router decodes it. */
export function isResellerPath(path: string): boolean {
  return PATHS.test(path);
}

/** Who may use it at all. */
export function judgeReseller({ account, credential }: ApiCaller): Problem | undefined {
  if (credential.kind === 'key') return forbidden('this surface is not open to API keys');
  return account.isReseller ? undefined : forbidden('this account is not a reseller');
}

export const QUERY_DOMAIN = z.string().describe('The numeric id of the domain of a client.');

/** The same call for a client's domain. */
export function forResellers(route: Route): Route {
  const { path, operationId, query, access } = route;
  const isInQuery = access.kind === 'domain' && access.domainIn === 'query';
  return {
    ...route,
    path: RESELLER_PREFIX + path.replace('{domain}', '{domainId}'),
    operationId: `reseller${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}`,
    tag: "Clients' domains",
    ...(isInQuery && query !== undefined && { query: query.extend({ domain: QUERY_DOMAIN }) }),
  };
}
