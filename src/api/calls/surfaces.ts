// Groups of paths that some callers may not use. They are refused by path alone, whether or not a route exists there.
// The reseller surface is everything below `/reseller/v1`: mostly the calls of customers, for a client's domain by
// its id.

import { z } from 'zod';
import { forbidden, notFound, Problem, problem } from '../answers/problem.ts';
import type { ApiCaller } from '../callers/caller.ts';
import type { Route } from './route.ts';

interface Surface {
  /** Undefined for every method. */
  readonly methods?: (method: string) => boolean;
  readonly path: RegExp;
}

const only = (wanted: string) => (method: string) => method === wanted;

/** Paths for global admins only. All other callers get the same response as for a path without a route. */
const ADMIN_PATHS = /^\/(admin|console\/queues)(\/|$)/;

/** Paths that no API key may use (docs/rules.md "Access"). */
const CLOSED_TO_KEYS: readonly Surface[] = [
  { path: ADMIN_PATHS },
  { path: /^\/(users|auth|billing)(\/|$)/ },
  { methods: only('POST'), path: /^\/wallet\/topup$/ },
  { methods: only('DELETE'), path: /^\/wallet\/topups\/[^/]+$/ },
  { path: /^\/wallet\/topups\/[^/]+\/page$/ },
  { methods: only('POST'), path: /^\/domains\/[^/]+\/subscriptions\/(purchase|switch|auto-renew)$/ },
  { methods: only('POST'), path: /^\/subscriptions\/(purchase|switch|auto-renew)$/ },
];

/** Paths for which the reseller of a managed account is responsible (docs/rules.md "Access"). */
const CLOSED_TO_MANAGED: readonly Surface[] = [
  { path: /^\/(wallet|tickets)(\/|$)/ },
  { path: /^\/invoices(\/|$)/ },
  { path: /^\/domains\/[^/]+\/(invoices|invites)(\/|$)/ },
  { methods: only('POST'), path: /^\/domains\/(batch)?$/ },
  { methods: only('POST'), path: /^\/api\/v1\/servers\/localhost\/zones$/ },
  { methods: only('POST'), path: /^\/domains\/[^/]+\/subscriptions\/(purchase|switch|auto-renew)$/ },
  { path: /^\/invites\/[^/]+(\/accept)?$/ },
  { methods: (method) => method !== 'GET', path: /^\/domains\/[^/]+\/members\/[^/]+$/ },
];

const removed = (message: string) => new Problem(410, 'route_removed', { members: { message } });

const REMOVED: readonly (Surface & { readonly problem: Problem })[] = [
  {
    methods: (method) => method === 'GET' || method === 'HEAD',
    path: /^\/subscriptions\/current$/,
    problem: removed('This route was removed: use GET /domains/{domain}/subscriptions instead.'),
  },
  {
    methods: only('POST'),
    path: /^\/subscriptions\/(purchase|switch|auto-renew)$/,
    problem: removed(
      'This route was removed: subscriptions belong to a domain. Use the routes below /domains/{domain}/subscriptions instead.',
    ),
  },
];

function meets({ methods, path }: Surface, method: string, asked: string): boolean {
  return path.test(asked) && (methods === undefined || methods(method));
}

/**
 * Returns true for a method and path that only sessions may use. If such a call has no route, the response is 404
 * instead of 405, because another method of the same path may be open to everyone.
 */
export function isCallOfSessions(method: string, path: string): boolean {
  return CLOSED_TO_KEYS.some((surface) => surface.methods !== undefined && meets(surface, method, path));
}

/**
 * `path` must be decoded as in the router, so that other spellings are refused too. If a reseller must do this for
 * its clients, that is the reason given, even if API keys may not do it either.
 */
export function judgeSurface(
  method: string,
  path: string,
  caller: { readonly isManaged: boolean; readonly isSession?: boolean; readonly isAdmin?: boolean },
): Problem | undefined {
  if (caller.isManaged && CLOSED_TO_MANAGED.some((surface) => meets(surface, method, path))) {
    return problem('managed_by_reseller', 'this account is managed by its reseller');
  }
  if (caller.isSession !== true && CLOSED_TO_KEYS.some((surface) => meets(surface, method, path))) {
    return forbidden('API keys may not use this path');
  }
  if (caller.isAdmin !== true && ADMIN_PATHS.test(path)) return notFound('path');
  return REMOVED.find((surface) => meets(surface, method, path))?.problem;
}

const RESELLER_PREFIX = '/reseller/v1';

const PATHS = /^\/reseller\/v1(\/|$)/;

/** `path` must be decoded as in the router. */
export function isResellerPath(path: string): boolean {
  return PATHS.test(path);
}

/** Returns a problem if the caller may not use the reseller surface. */
export function judgeReseller({ account, credential }: ApiCaller): Problem | undefined {
  if (credential.kind === 'key') return forbidden('API keys may not use this path');
  return account.isReseller ? undefined : forbidden('this account is not a reseller');
}

export const QUERY_DOMAIN = z.string().describe("The numeric id of a client's domain.");

/** Returns the same call for a client's domain. */
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
