// Request guards, which run before the body is read (docs/rules.md "Access"). In this order: 401, 429, then 403 for
// the origin, the account, the key, clients of resellers and the surface, then 410, 404, 403 for the role, 403
// banned, 409 disabled, and 400 for the Idempotency-Key.

import type { FastifyBaseLogger } from 'fastify';
import type { DomainHead, Visible, VisibleDomain } from '../../store/domains/domain.ts';
import { type DomainPart, HEAD, WHOLE } from '../../store/domains/load-domains.ts';
import { badRequest, forbidden, invalid, notFound, Problem, problem } from '../answers/problem.ts';
import { type ApiCaller, mayDo, writesRecordsOnly } from '../callers/caller.ts';
import { isRecentlyAuthenticated } from '../people/sessions.ts';
import type { Api, CallOf } from './call.ts';
import type { FindDomain } from './find-domain.ts';
import { readIdempotencyKey } from './idempotency.ts';
import { type Access, isWrite, type Route, takesIdempotencyKey, writesWith } from './route.ts';
import { isCallOfSessions, isResellerPath, judgeReseller, judgeSurface } from './surfaces.ts';

interface Asked {
  readonly method: string;
  /** The path with its query, as received. */
  readonly url: string;
  /** Path parameters, decoded by the router. */
  readonly params: Readonly<Record<string, string>>;
  /** Query parameters. A parameter that occurs more than once is a list. */
  readonly query?: Readonly<Record<string, string | string[]>> | undefined;
  readonly idempotencyKey: string | string[] | undefined;
  /** Undefined if no route has this path and method. */
  readonly route: Route | undefined;
  /** Finds domains on the surface of this path. */
  readonly findDomain: FindDomain;
  /** The response to a request without a route. */
  readonly unrouted?: Problem | undefined;
  /** The `Origin` header of the request. */
  readonly origin?: string | undefined;
  readonly log: FastifyBaseLogger;
}

/** The data that the guards loaded for the handler. */
export interface Admitted {
  readonly caller: ApiCaller;
  readonly params: Readonly<Record<string, unknown>>;
  /** Only the head of the domain, if that is enough for the route. */
  readonly domain: Visible<DomainHead> | undefined;
  readonly found: unknown;
  readonly idempotencyKey: string | undefined;
}

/** Runs the guards that come after 401 and 429. */
export async function admit(api: Api, calling: ApiCaller, asked: Asked): Promise<Admitted | Problem> {
  const { method, route } = asked;
  const path = decodedPath(asked.url);
  const isReseller = isResellerPath(path);
  const caller = isReseller ? withoutAdmin(calling) : calling;
  const { credential } = caller;
  const isSession = credential.kind === 'session';
  const isByCookie = isSession && credential.session.carrier === 'cookie';
  // A browser sends the cookie for requests from any page, and names that page's origin in `Origin`.
  if (isByCookie && isWrite(method) && asked.origin !== api.people?.origin) return foreignOrigin();
  if (!caller.account.active) return problem('account_suspended', 'account is inactive');
  if (caller.key.readOnly && writesWith(route, method)) return forbidden('read-only API key');
  const refused = isReseller
    ? judgeReseller(caller)
    : judgeSurface(method, path, {
        isManaged: caller.account.providerId !== null,
        isSession,
        isAdmin: caller.account.isAdmin,
      });
  if (refused !== undefined) return refused;
  if (route === undefined)
    return isCallOfSessions(method, path) ? notFound('path') : (asked.unrouted ?? notFound('path'));

  const params = route.params?.safeParse(asked.params);
  // PostgreSQL cannot store U+0000, so nothing has such a name.
  const isNameless = Object.values(asked.params).some((text) => text.includes('\0'));
  if (params?.success === false || (params !== undefined && isNameless))
    return notFound(route.finds ?? 'path');
  const named = nameOf(route.access, asked);
  if (named instanceof Problem) return named;
  const loaded =
    route.access.kind === 'domain'
      ? await asked.findDomain<DomainHead & { readonly found?: unknown }>(
          api.db,
          caller,
          named ?? '',
          isWrite(method),
          route.findWithDomain?.(params?.data) ?? PARTS[route.access.part],
        )
      : undefined;
  if (loaded instanceof Problem) return loaded;
  const admitted = { caller, params: params?.data ?? {}, domain: loaded };
  let found = loaded?.found;
  if (route.find !== undefined || route.findWithDomain !== undefined) {
    found ??= await route.find?.(callToFind(api, asked, admitted));
    if (found === undefined) return notFound(route.finds ?? 'item');
    if (found instanceof Problem) return found;
  }
  const forbiddenTo =
    judgeSession(method, caller, route.access) ??
    judgeAccess(writesWith(route, method), caller, route.access, loaded);
  if (forbiddenTo !== undefined) return forbiddenTo;
  const key = takesIdempotencyKey(route) ? readIdempotencyKey(asked.idempotencyKey) : undefined;
  if (key === undefined && route.idempotent === 'required')
    return badRequest('this call requires an Idempotency-Key');
  if (key instanceof Problem) return key;
  return { ...admitted, found, idempotencyKey: key };
}

const PARTS = { whole: WHOLE as DomainPart<DomainHead>, head: HEAD };

export function foreignOrigin(): Problem {
  return problem('foreign_origin', 'this call comes from a page of another site');
}

/** On the reseller surface, a global admin is only a reseller, which limits what their machine tokens may do. */
function withoutAdmin(caller: ApiCaller): ApiCaller {
  return { ...caller, account: { ...caller.account, isAdmin: false } };
}

function judgeSession(method: string, { credential }: ApiCaller, access: Access): Problem | undefined {
  const isOfSessions = access.kind === 'session' || access.kind === 'admin' || access.kind === 'reseller';
  if (!isOfSessions || (access.kind === 'reseller' && !access.sessions)) return undefined;
  if (credential.kind !== 'session') return forbidden('this call requires a session');
  const isFresh = access.kind === 'admin' ? isWrite(method) : access.fresh;
  if (!isFresh || isRecentlyAuthenticated(credential.session, credential.now)) return undefined;
  return problem('reauthenticate', 'confirm your session first: POST /auth/confirm or /auth/oidc/confirm');
}

/** Returns the name or id of the call's domain. A query must contain exactly one. */
function nameOf(access: Access, { params, query = {} }: Asked): string | Problem | undefined {
  if (access.kind !== 'domain' || access.domainIn === 'path')
    return params.domain ?? params.domainId ?? params.serviceId;
  const { domain } = query;
  if (domain === undefined || domain === '') return invalid([{ field: 'domain', error: 'is required' }]);
  if (typeof domain !== 'string') return invalid([{ field: 'domain', error: 'must not be repeated' }]);
  return domain;
}

function judgeAccess(
  writes: boolean,
  caller: ApiCaller,
  access: Access,
  domain: Visible<DomainHead> | undefined,
): Problem | undefined {
  if (access.kind === 'domain' && domain !== undefined) return judgeDomain(writes, caller, access, domain);
  const isAccount = access.kind === 'account';
  const isClosed = isAccount ? access.wholeKeys || (writes && !access.narrowedKeys) : writes;
  return isClosed && (caller.key.domains !== null || writesRecordsOnly(caller.key))
    ? forbidden('this API key is restricted to certain domains or records')
    : undefined;
}

/** Returns a problem if the caller may not read or write the domain as `access` requires. */
export function judgeDomain(
  writes: boolean,
  { key }: ApiCaller,
  access: Extract<Access, { kind: 'domain' }>,
  domain: Visible<DomainHead>,
): Problem | undefined {
  if (!mayDo(domain.myRole, access.permission)) return forbidden(`your role lacks ${access.permission}`);
  if (access.wholeKeys && writesRecordsOnly(key))
    return forbidden('this API key may write only certain records');
  if (!writes && (!access.wholeKeys || access.whileDisabled)) return undefined;
  if (writesRecordsOnly(key) && !access.writesRecords) {
    return forbidden('this API key may write only certain records');
  }
  if (domain.status === 'banned') return problem('domain_banned', 'the domain is banned');
  if (domain.status === 'disabled' && !access.whileDisabled) {
    return problem('domain_disabled', 'the domain is disabled; enable it first');
  }
  return undefined;
}

/** Decodes the path as the router does, which preserves escapes of reserved characters. */
function decodedPath(url: string): string {
  return decodeURI(url.split(/[?#]/, 1)[0] as string);
}

function callToFind(
  api: Api,
  { url, log }: Asked,
  admitted: Pick<Admitted, 'caller' | 'params' | 'domain'>,
): CallOf<'domain'> {
  return {
    api,
    ...admitted,
    domain: admitted.domain as VisibleDomain,
    query: undefined,
    body: undefined,
    found: undefined,
    url,
    log,
    gone: new AbortController().signal,
    idempotencyKey: undefined,
    answerHeader: () => {},
    answerRest: () => {},
    inTurnOf: (_domainId, work) => work(),
    audit: () => {},
  };
}
