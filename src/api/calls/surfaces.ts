// Groups of paths that some callers may not use. They are refused by path alone, whether or not a route exists there. One group is
// the surface of resellers, everything below `/reseller/v1`: mostly the calls of customers, for the domain of a client, by its id.

import { z } from 'zod';
import { forbidden, notFound, Problem, problem } from '../answers/problem.ts';
import type { ApiCaller } from '../callers/caller.ts';
import type { Route } from './route.ts';

interface Surface {
  /** Undefined: every method. */
  readonly methods?: (method: string) => boolean;
  readonly path: RegExp;
}

const only = (wanted: string) => (method: string) => method === wanted;

/** Paths that are there for global admins only: for everybody else they are as paths that no route has. */
const OF_ADMINS = /^\/(admin|console\/queues)(\/|$)/;

/** Paths that no API key may use (docs/rules.md "Access"). */
const CLOSED_TO_KEYS: readonly Surface[] = [
  { path: OF_ADMINS },
  { path: /^\/(users|auth|billing)(\/|$)/ },
  { methods: only('POST'), path: /^\/wallet\/topup$/ },
  { methods: only('DELETE'), path: /^\/wallet\/topups\/[^/]+$/ },
  { path: /^\/wallet\/topups\/[^/]+\/page$/ },
  { methods: only('POST'), path: /^\/domains\/[^/]+\/subscriptions\/(purchase|switch|auto-renew)$/ },
  { methods: only('POST'), path: /^\/subscriptions\/(purchase|switch|auto-renew)$/ },
];

/**
 * Paths that an account managed by a reseller may not use: the reseller does this for its clients (docs/rules.md
 * "Access").
 */
const CLOSED_TO_MANAGED: readonly Surface[] = [
  { path: /^\/(wallet|tickets)(\/|$)/ },
  { path: /^\/invoices(\/|$)/ },
  { path: /^\/domains\/[^/]+\/(invoices|invites)(\/|$)/ },
  { methods: only('POST'), path: /^\/domains\/$/ },
  { methods: only('POST'), path: /^\/domains\/[^/]+\/subscriptions\/(purchase|switch|auto-renew)$/ },
  { path: /^\/invites\/[^/]+(\/accept)?$/ },
  { methods: (method) => method !== 'GET', path: /^\/domains\/[^/]+\/members\/[^/]+$/ },
];

const removed = (message: string) => new Problem(410, 'route_removed', { members: { message } });

const REMOVED: readonly (Surface & { readonly problem: Problem })[] = [
  {
    methods: (method) => method === 'GET' || method === 'HEAD',
    path: /^\/subscriptions\/current$/,
    problem: removed('This route was removed: read the subscriptions of a domain instead.'),
  },
  {
    methods: only('POST'),
    path: /^\/subscriptions\/(purchase|switch|auto-renew)$/,
    problem: removed('This route was removed: a subscription belongs to a domain, and so does this call.'),
  },
];

function meets({ methods, path }: Surface, method: string, asked: string): boolean {
  return path.test(asked) && (methods === undefined || methods(method));
}

/**
 * A call for sessions only, by its method. Where no route has it, it is 404: another method of the same path may be for
 * everybody, but says nothing about this call.
 */
export function isCallOfSessions(method: string, path: string): boolean {
  return CLOSED_TO_KEYS.some((surface) => surface.methods !== undefined && meets(surface, method, path));
}

/**
 * `path` is decoded as the router decodes it, so that another spelling is refused too. What a reseller does for its
 * clients is refused as that, also where no key may do it.
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
    return forbidden('this surface is not open to API keys');
  }
  if (caller.isAdmin !== true && OF_ADMINS.test(path)) return notFound('path');
  return REMOVED.find((surface) => meets(surface, method, path))?.problem;
}

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
