// Request guards, in order (docs/rules.md "Access"), before the body is read: 401, 429, 403 of the origin, of the account, of
// the key, of what the reseller manages, of the surface, 410, 404, 403 of the role, 403 banned, 409 disabled, 400 of the Idempotency-Key.

import type { FastifyBaseLogger } from 'fastify';
import type { VisibleDomain } from '../../store/domains/domain.ts';
import { badRequest, forbidden, invalid, notFound, Problem, problem } from '../answers/problem.ts';
import { type ApiCaller, mayDo, writesRecordsOnly } from '../callers/caller.ts';
import { isPasswordFresh } from '../people/sessions.ts';
import type { Api, CallOf } from './call.ts';
import type { FindDomain } from './find-domain.ts';
import { readIdempotencyKey } from './idempotency.ts';
import { type Access, isWrite, type Route, takesIdempotencyKey } from './route.ts';
import { isCallOfSessions, isResellerPath, judgeReseller, judgeSurface } from './surfaces.ts';

interface Asked {
  readonly method: string;
  /** The path with its query, as it was received. */
  readonly url: string;
  /** The parameters of the path, decoded by the router. */
  readonly params: Readonly<Record<string, string>>;
  /** The parameters of the query; a list where one is named more than once. */
  readonly query?: Readonly<Record<string, string | string[]>> | undefined;
  readonly idempotencyKey: string | string[] | undefined;
  /** Undefined: no route has this path and method. */
  readonly route: Route | undefined;
  /** How the surface of the path finds domains. */
  readonly findDomain: FindDomain;
  /** Without a route: what the caller is told about it. */
  readonly unrouted?: Problem | undefined;
  /** The `Origin` that the request names. */
  readonly origin?: string | undefined;
  readonly log: FastifyBaseLogger;
}

/** What the guards loaded for the handler. */
export interface Admitted {
  readonly caller: ApiCaller;
  readonly params: Readonly<Record<string, unknown>>;
  readonly domain: VisibleDomain | undefined;
  readonly found: unknown;
  readonly idempotencyKey: string | undefined;
}

/** Runs the guards that come after 401 and 429. */
export async function admit(api: Api, calling: ApiCaller, asked: Asked): Promise<Admitted | Problem> {
  const { method, route } = asked;
  const path = decodedPath(asked.url);
  const isOfResellers = isResellerPath(path);
  const caller = isOfResellers ? withoutAdmin(calling) : calling;
  const { credential } = caller;
  const isSession = credential.kind === 'session';
  const isByCookie = isSession && credential.session.carrier === 'cookie';
  // A browser sends the cookie whoever makes it ask, and says who that is.
  if (isByCookie && isWrite(method) && asked.origin !== api.people?.origin) return foreignOrigin();
  if (!caller.account.active) return problem('account_suspended', 'account is inactive');
  if (caller.key.readOnly && isWrite(method)) return forbidden('read-only API key');
  const refused = isOfResellers
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
  // Postgres stores no U+0000, so nothing has such a name.
  const isNameless = Object.values(asked.params).some((text) => text.includes('\0'));
  if (params?.success === false || (params !== undefined && isNameless))
    return notFound(route.finds ?? 'path');
  const named = nameOf(route.access, asked);
  if (named instanceof Problem) return named;
  const loaded =
    route.access.kind === 'domain'
      ? await asked.findDomain(api.db, caller, named ?? '', isWrite(method))
      : undefined;
  if (loaded instanceof Problem) return loaded;
  const admitted = { caller, params: params?.data ?? {}, domain: loaded };
  let found: unknown;
  if (route.find !== undefined) {
    found = await route.find(callToFind(api, asked, admitted));
    if (found === undefined) return notFound(route.finds ?? 'item');
    if (found instanceof Problem) return found;
  }
  const forbiddenTo =
    judgeSession(method, caller, route.access) ?? judgeAccess(method, caller, route.access, loaded);
  if (forbiddenTo !== undefined) return forbiddenTo;
  const key = takesIdempotencyKey(route) ? readIdempotencyKey(asked.idempotencyKey) : undefined;
  if (key === undefined && route.idempotent === 'required')
    return badRequest('this call needs an Idempotency-Key');
  if (key instanceof Problem) return key;
  return { ...admitted, found, idempotencyKey: key };
}

export function foreignOrigin(): Problem {
  return problem('foreign_origin', 'this call comes from a page of another site');
}

/** There everybody is a reseller and no more: what a token of a global admin's may do is bounded by it. */
function withoutAdmin(caller: ApiCaller): ApiCaller {
  return { ...caller, account: { ...caller.account, isAdmin: false } };
}

function judgeSession(method: string, { credential }: ApiCaller, access: Access): Problem | undefined {
  const isOfSessions = access.kind === 'session' || access.kind === 'admin' || access.kind === 'reseller';
  if (!isOfSessions || (access.kind === 'reseller' && !access.sessions)) return undefined;
  if (credential.kind !== 'session') return forbidden('this call needs a session');
  const isFresh = access.kind === 'admin' ? isWrite(method) : access.fresh;
  if (!isFresh || isPasswordFresh(credential.session, credential.now)) return undefined;
  return problem('reauthenticate', 'give your password again: POST /auth/confirm');
}

/** How the call names its domain: in a query exactly once, since two would leave open which one is answered. */
function nameOf(access: Access, { params, query = {} }: Asked): string | Problem | undefined {
  if (access.kind !== 'domain' || access.domainIn === 'path')
    return params.domain ?? params.domainId ?? params.serviceId;
  const { domain } = query;
  if (domain === undefined || domain === '') return invalid([{ field: 'domain', error: 'is required' }]);
  if (typeof domain !== 'string') return invalid([{ field: 'domain', error: 'can be given only once' }]);
  return domain;
}

function judgeAccess(
  method: string,
  { key }: ApiCaller,
  access: Access,
  domain: VisibleDomain | undefined,
): Problem | undefined {
  const writes = isWrite(method);
  if (access.kind !== 'domain' || domain === undefined) {
    const isClosed = writes || (access.kind === 'account' && access.wholeKeys);
    return isClosed && (key.domains !== null || writesRecordsOnly(key))
      ? forbidden('this API key is narrowed to some domains or records')
      : undefined;
  }
  if (!mayDo(domain.myRole, access.permission)) return forbidden(`your role lacks ${access.permission}`);
  if (access.wholeKeys && writesRecordsOnly(key))
    return forbidden('this API key may write some records only');
  if (!writes && (!access.wholeKeys || access.whileDisabled)) return undefined;
  if (writesRecordsOnly(key) && !access.writesRecords) {
    return forbidden('this API key may write some records only');
  }
  if (domain.status === 'banned') return problem('domain_banned', 'the domain is banned');
  if (domain.status === 'disabled' && !access.whileDisabled) {
    return problem('domain_disabled', 'the domain is disabled; enable it first');
  }
  return undefined;
}

/**
 * The path as the router reads it: escapes of other characters within a segment stay. Paths that cannot be decoded
 * never come here.
 */
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
    audit: () => {},
  };
}
