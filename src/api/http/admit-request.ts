// Admits or refuses a request before its body is read: finds the caller, counts the request towards the caller's limit, and
// runs the guards.

import { isIP } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Network, networksOf } from '../../dns/record/network.ts';
import { trustConnection } from '../../process/http/bounded-server.ts';
import { touchApiKey } from '../../store/accounts/api-keys.ts';
import { touchToken } from '../../store/accounts/reseller-tokens.ts';
import { touchSession } from '../../store/people/sessions.ts';
import { PROBLEM_CODES, Problem, tooBusy } from '../answers/problem.ts';
import {
  authenticate,
  judgeCredentials,
  KeyUses,
  openCredentials,
  presentsHeader,
} from '../callers/authenticate.ts';
import type { ApiCaller } from '../callers/caller.ts';
import { EdgeCallers } from '../callers/edge-callers.ts';
import { GatewayCallers } from '../callers/gateway-callers.ts';
import type { RateLimit } from '../callers/rate-limits.ts';
import { VantageCallers } from '../callers/vantage-callers.ts';
import type { Api } from '../calls/call.ts';
import { findVisibleDomain } from '../calls/find-domain.ts';
import { type Admitted, admit, foreignOrigin } from '../calls/guard.ts';
import { isWrite, type Route } from '../calls/route.ts';
import { isResellerPath } from '../calls/surfaces.ts';
import type { Judgement } from '../events/followers.ts';
import type { Asker, People } from '../people/people.ts';
import { admitEdge, isEdgePath } from './admit-edge.ts';
import { type KnownPaths, pathOf, readablePath } from './known-paths.ts';

/** A limit that is undefined does not apply. */
export interface RateLimits {
  /** Per API key. */
  readonly rateLimit: RateLimit | undefined;
  /** Per account, for all its sessions together. */
  readonly sessionRateLimit?: RateLimit | undefined;
  /** Per credential of a reseller, on the reseller surface. */
  readonly resellerRateLimit?: RateLimit | undefined;
}

interface AdmissionOptions extends RateLimits {
  readonly api: Api;
  readonly paths: KnownPaths;
  /** Networks whose `X-Forwarded-For` header is trusted. */
  readonly trustedProxies: readonly string[];
}

export class RequestAdmission {
  readonly #api: Api;
  readonly #paths: KnownPaths;
  readonly #limits: RateLimits;
  readonly #proxies: readonly Network[];
  readonly #vantages: VantageCallers;
  readonly #gateways: GatewayCallers;
  readonly #edges: EdgeCallers;
  readonly #credentials: ReturnType<typeof openCredentials>;
  readonly #uses: Readonly<Record<ApiCaller['credential']['kind'], KeyUses>>;

  constructor({ api, paths, trustedProxies, ...limits }: AdmissionOptions) {
    this.#api = api;
    this.#paths = paths;
    this.#limits = limits;
    this.#proxies = networksOf(...trustedProxies);
    this.#vantages = new VantageCallers(api.db);
    this.#gateways = new GatewayCallers(api.payments.gateways);
    this.#edges = new EdgeCallers(api.db);
    this.#credentials = openCredentials(api.db);
    this.#uses = {
      key: new KeyUses(api.db, touchApiKey),
      session: new KeyUses(api.db, touchSession),
      token: new KeyUses(api.db, touchToken),
    };
  }

  /** Returns a problem if the request is refused. Otherwise sets the data for its handler on the request. */
  async admit(request: FastifyRequest, reply: FastifyReply): Promise<Problem | undefined> {
    const { route, openTo } = request.routeOptions.config;
    if (openTo === 'everyone') return undefined;
    if (route?.access.kind === 'vantage' && !request.is404) return this.#admitVantage(request, reply, route);
    if (route?.access.kind === 'gateway' && !request.is404) return this.#admitGateway(request);
    if (isEdgePath(request.url)) return admitEdge(this.#edges, this.#paths, request, this.#proxies);
    return this.#admitCaller(request, reply);
  }

  /** Waits until the last use of each credential is saved. */
  async settle(): Promise<void> {
    await Promise.all(Object.values(this.#uses).map((each) => each.settle()));
  }

  async #admitVantage(
    request: FastifyRequest,
    reply: FastifyReply,
    route: Route,
  ): Promise<Problem | undefined> {
    const signed = await this.#vantages.verify(request.headers, route);
    if (signed instanceof Problem) return signed;
    reply.raw.once('close', signed.release);
    if (reply.raw.destroyed) signed.release(); // the observer disconnected meanwhile
    trustConnection(request.raw.socket);
    request.signed = signed;
    request.vantage = { name: signed.name, address: request.ip };
    return undefined;
  }

  #admitGateway(request: FastifyRequest): Problem | undefined {
    const { gateway = '' } = request.params as Record<string, string>;
    const notice = this.#gateways.present(gateway, request.headers);
    if (notice instanceof Problem) return notice;
    request.notice = notice;
    return undefined;
  }

  async #admitCaller(request: FastifyRequest, reply: FastifyReply): Promise<Problem | undefined> {
    const api = this.#api;
    const { route, findDomain = findVisibleDomain } = request.routeOptions.config;
    const params = request.params as Record<string, string>;
    // The router accepts an empty last parameter, but such a path is the path of the list.
    const isRouted = !request.is404 && !Object.values(params).includes('');
    const unrouted = isRouted ? undefined : this.#paths.explain(request.method, pathOf(request.originalUrl));
    if (unrouted?.isOpen) return unrouted.problem;
    const asker = askerOf(request, api.people);
    request.asker = asker;
    if (isRouted && route?.access.kind === 'public') {
      // Signing in requires no session. A browser request is refused if its Origin is another site, but not if it has
      // no Origin.
      const isForeign = asker.origin !== undefined && asker.origin !== api.people?.origin;
      if (isWrite(request.method) && isForeign) return foreignOrigin();
      // Checked before the body is read, so that many concurrent calls cost little.
      if (isWrite(request.method) && api.people?.turns.hasPlace(asker.address) === false) return tooBusy();
      if (!presentsHeader(request.headers)) return undefined;
    }
    const caller = await this.#countedCaller(request, reply, asker, unrouted?.takesPassword);
    if (caller instanceof Problem) return caller;
    const asked = {
      method: request.method,
      url: request.url,
      params,
      query: request.query as Record<string, string | string[]>,
      idempotencyKey: request.headers['idempotency-key'],
      route: isRouted ? route : undefined,
      findDomain,
      unrouted: unrouted?.problem,
      origin: asker.origin,
      log: request.log,
    };
    const admitted = await admit(api, caller, asked);
    if (admitted instanceof Problem) return admitted;
    request.admitted = admitted;
    if (route?.follows === true) {
      const { 'last-event-id': lastEventId } = request.headers;
      request.following = {
        lastEventId: typeof lastEventId === 'string' ? lastEventId : undefined,
        judge: async () => {
          const again = await this.#identify(request, asker);
          return compare(admitted, again instanceof Problem ? again : await admit(api, again, asked));
        },
      };
    }
    return undefined;
  }

  /** Returns the caller, after the checks for 401 and 429. */
  async #countedCaller(
    request: FastifyRequest,
    reply: FastifyReply,
    asker: Asker,
    takesPassword: boolean | undefined,
  ): Promise<ApiCaller | Problem> {
    const isReseller = isResellerPath(readablePath(request.originalUrl));
    const caller =
      judgeCredentials(request.raw.rawHeaders) ?? (await this.#identify(request, asker, takesPassword));
    if (caller instanceof Problem) return isReseller ? withRateCode(caller) : caller;
    trustConnection(request.raw.socket);
    const { credential } = caller;
    const { limit: counting, subject } = this.#rateOf(caller, isReseller);
    const taken = await counting?.take(subject);
    reply.headers(taken?.headers ?? {});
    if (taken?.problem !== undefined) return isReseller ? withRateCode(taken.problem) : taken.problem;
    this.#uses[credential.kind].note(credential.kind === 'session' ? credential.session.id : credential.id);
    if (taken === undefined) return caller;
    const { limit, remaining, resetSeconds } = taken;
    return { ...caller, rate: { limit, remaining, resetSeconds } };
  }

  async #identify(
    request: FastifyRequest,
    { address, cookies }: Asker,
    takesPassword?: boolean,
  ): Promise<ApiCaller | Problem> {
    const isReseller = isResellerPath(readablePath(request.originalUrl));
    return await authenticate(this.#credentials, request.headers, {
      address,
      cookie: cookies.session,
      isReseller,
      isCompat: request.routeOptions.config.route?.compat !== undefined,
      takesPassword,
    });
  }

  /** The sessions of an account share one limit, so that signing in again does not raise it. */
  #rateOf({ credential, account }: ApiCaller, isReseller: boolean) {
    const { rateLimit, sessionRateLimit, resellerRateLimit } = this.#limits;
    if (credential.kind === 'key') return { limit: rateLimit, subject: `key:${credential.id}` };
    if (credential.kind === 'token') return { limit: resellerRateLimit, subject: `token:${credential.id}` };
    return isReseller
      ? { limit: resellerRateLimit, subject: `reseller:${account.id}` }
      : { limit: sessionRateLimit, subject: `session:${account.id}` };
  }
}

const NO_COOKIES = { session: undefined, device: undefined, flow: undefined };

function askerOf(request: FastifyRequest, people: People | undefined): Asker {
  const { headers, ip } = request;
  return {
    // A trusted proxy may forward text that is not an address.
    address: isIP(ip) === 0 ? (request.raw.socket.remoteAddress ?? '') : ip,
    origin: headers.origin,
    userAgent: headers['user-agent'],
    cookies: people?.cookies.read(headers.cookie) ?? NO_COOKIES,
  };
}

/** Adds the code that a 429 has on the reseller surface. */
function withRateCode(refused: Problem): Problem {
  const { status, error, code, headers } = refused;
  if (status !== PROBLEM_CODES.rate_limited || code !== undefined) return refused;
  return new Problem(status, error, { code: 'rate_limited', headers });
}

/**
 * Compares how a caller that follows a stream is admitted now with how it was admitted before. Any difference ends
 * the stream, even if the caller could start a new one. Throws if the service itself failed.
 */
function compare(before: Admitted, now: Admitted | Problem): Judgement {
  if (now instanceof Problem) {
    if (now.status >= 500) throw new Error(now.error);
    return 'ended';
  }
  const isSame =
    now.domain?.id === before.domain?.id &&
    now.domain?.myRole === before.domain?.myRole &&
    now.caller.account.isAdmin === before.caller.account.isAdmin;
  return isSame ? 'same' : 'ended';
}
