// The HTTP server without its sockets: guards, routes and the texts for every error, so that no text of the framework
// shows. Paths are taken as written: a wrong slash or case makes another path.

import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { serializerCompiler } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import { networksOf } from '../../dns/record/network.ts';
import { ANSWER_HEADERS } from '../../process/http/answer-headers.ts';
import { trustConnection } from '../../process/http/bounded-server.ts';
import { touchApiKey } from '../../store/accounts/api-keys.ts';
import { touchToken } from '../../store/accounts/reseller-tokens.ts';
import { DNSSEC_UNAVAILABLE, DnssecUnavailable } from '../../store/keys/dnssec-unavailable.ts';
import { touchSession } from '../../store/people/sessions.ts';
import { mayBeCommitted } from '../../store/postgres/bounded-client.ts';
import { OUTAGES, outageOf } from '../../store/postgres/outage.ts';
import {
  badRequest,
  invalid,
  MAY_BE_DONE,
  PROBLEM_CODES,
  Problem,
  sendProblem,
  tooBusy,
  unavailable,
} from '../answers/problem.ts';
import { SMALL_BODY_BYTES } from '../body/body-bounds.ts';
import { closeUnread } from '../body/close-unread.ts';
import { BODY, fieldProblems, QUERY } from '../body/field-problems.ts';
import { isStorable } from '../body/read-body.ts';
import {
  authenticate,
  judgeCredentials,
  KeyUses,
  openCredentials,
  presentsHeader,
} from '../callers/authenticate.ts';
import type { RateLimit } from '../callers/call-rate-limit.ts';
import type { ApiCaller } from '../callers/caller.ts';
import { EdgeCallers } from '../callers/edge-callers.ts';
import { GatewayCallers } from '../callers/gateway-callers.ts';
import { VantageCallers } from '../callers/vantage-callers.ts';
import type { Api } from '../calls/call.ts';
import { findClientsDomain, findVisibleDomain } from '../calls/find-domain.ts';
import { type Admitted, admit, foreignOrigin } from '../calls/guard.ts';
import { isResellerPath } from '../calls/reseller-surface.ts';
import { isWrite, type Route } from '../calls/route.ts';
import { hideSecret } from '../calls/secret-paths.ts';
import { NoTurn } from '../calls/turns.ts';
import { ThreadError } from '../large/large-call.ts';
import type { LargeWork } from '../large/large-work.ts';
import type { Asker, People } from '../people/people.ts';
import { StreamedBody } from '../requests/streamed-body.ts';
import { admitEdge, isEdgePath } from './admit-edge.ts';
import { judgeAgain } from './judge-again.ts';
import { isDecodable, KnownPaths, pathOf, readablePath } from './known-paths.ts';
import { signInInstead } from './lead-to-sign-in.ts';
import { mountRoutes } from './mount-routes.ts';
import { OutageLog } from './outage-log.ts';
import { takeBody, UnreadBody } from './take-body.ts';
import { watchSlowCalls } from './watch-slow-calls.ts';

interface ServerOptions {
  readonly api: Api;
  readonly routes: readonly Route[];
  /** What resellers call, below their prefix. */
  readonly resellerRoutes?: readonly Route[];
  /** What edge nodes call; their paths are theirs alone. */
  readonly edgeRoutes?: readonly Route[];
  /** Of keys; undefined: no limit. */
  readonly rateLimit: RateLimit | undefined;
  /** Of the sessions of an account; undefined: no limit. */
  readonly sessionRateLimit?: RateLimit | undefined;
  /** Of a credential of resellers, on their surface; undefined: no limit. */
  readonly resellerRateLimit?: RateLimit | undefined;
  /** Networks whose `X-Forwarded-For` counts. */
  readonly trustedProxies?: readonly string[];
  readonly log: FastifyBaseLogger;
  /** Records every call that fails because of the database. */
  readonly outages?: OutageLog;
  /** Undefined: large bodies are handled in this thread, like small ones. */
  readonly largeWork?: LargeWork | undefined;
  /** Mounts all other paths, before the routes: the description, health. */
  readonly prepare?: (app: FastifyInstance) => Promise<void>;
}

const OUTAGE_TICK_MS = 5000;
/** More than a whole header may have (16 KiB): beyond it the framework would answer with its own text. */
const MAX_PARAMETER_CHARACTERS = 16 * 1024;
/** The path for one that cannot be decoded: no route has it. */
const NO_PATH = '/%00';

export async function createServer(options: ServerOptions): Promise<FastifyInstance> {
  const { api, log, trustedProxies = [] } = options;
  const proxies = networksOf(...trustedProxies);
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    bodyLimit: SMALL_BODY_BYTES,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    routerOptions: { maxParamLength: MAX_PARAMETER_CHARACTERS },
    rewriteUrl: ({ url }) => routablePath(url ?? '/'),
  });
  app.decorateRequest('admitted', undefined);
  app.decorateRequest('signed', undefined);
  app.decorateRequest('vantage', undefined);
  app.decorateRequest('edge', undefined);
  app.decorateRequest('notice', undefined);
  app.decorateRequest('asker', undefined);
  app.decorateRequest('following', undefined);
  app.decorateRequest('declaredType', undefined);
  app.decorateRequest('received', undefined);
  app.decorateRequest('response');
  app.setValidatorCompiler(({ schema, httpPart }) =>
    validatorOf(schema as z.ZodType, httpPart === 'querystring'),
  );
  app.setSerializerCompiler(serializerCompiler);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (request: FastifyRequest, payload: IncomingMessage) =>
    takeBody(request, payload, options.largeWork),
  );
  const outages = options.outages ?? new OutageLog(log);
  const ticking = setInterval(() => outages.tick(), OUTAGE_TICK_MS).unref();
  app.addHook('onClose', async () => clearInterval(ticking));
  app.setErrorHandler((error, request, reply) => sendProblem(reply, explain(error, request, outages)));
  app.setNotFoundHandler((_request, reply) => sendProblem(reply, new Problem(404, 'path not found')));

  const paths = new KnownPaths();
  paths.watch(app as unknown as FastifyInstance);
  const vantages = new VantageCallers(api.db);
  const gateways = new GatewayCallers(api.payments.gateways);
  const edges = new EdgeCallers(api.db);
  const credentials = openCredentials(api.db);
  const uses = {
    key: new KeyUses(api.db, touchApiKey),
    session: new KeyUses(api.db, touchSession),
    token: new KeyUses(api.db, touchToken),
  };
  app.addHook('onClose', async () => {
    await Promise.all(Object.values(uses).map((each) => each.settle()));
  });

  async function identify(request: FastifyRequest, { address, cookies }: Asker) {
    const isOfResellers = isResellerPath(readablePath(request.originalUrl));
    return await authenticate(credentials, request.headers, {
      address,
      cookie: cookies.session,
      isOfResellers,
    });
  }

  /** Who calls, after 401 and 429. */
  async function callerOf(
    request: FastifyRequest,
    reply: FastifyReply,
    asker: Asker,
  ): Promise<ApiCaller | Problem> {
    const isOfResellers = isResellerPath(readablePath(request.originalUrl));
    const caller = judgeCredentials(request.raw.rawHeaders) ?? (await identify(request, asker));
    if (caller instanceof Problem) return isOfResellers ? withRateCode(caller) : caller;
    trustConnection(request.raw.socket);
    const { credential } = caller;
    const { limit: counting, subject } = rateOf(caller, isOfResellers);
    const taken = await counting?.take(subject);
    reply.headers(taken?.headers ?? {});
    if (taken?.problem !== undefined) return isOfResellers ? withRateCode(taken.problem) : taken.problem;
    uses[credential.kind].note(credential.kind === 'session' ? credential.session.id : credential.id);
    if (taken === undefined) return caller;
    const { limit, remaining, resetSeconds } = taken;
    return { ...caller, rate: { limit, remaining, resetSeconds } };
  }

  /** Keys and machine tokens count each for itself, the sessions of an account together: whoever signs in again gets no more. */
  function rateOf({ credential, account }: ApiCaller, isOfResellers: boolean) {
    if (credential.kind === 'key') return { limit: options.rateLimit, subject: `key:${credential.id}` };
    if (credential.kind === 'token')
      return { limit: options.resellerRateLimit, subject: `token:${credential.id}` };
    return isOfResellers
      ? { limit: options.resellerRateLimit, subject: `reseller:${account.id}` }
      : { limit: options.sessionRateLimit, subject: `session:${account.id}` };
  }

  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ ...ANSWER_HEADERS, 'X-Request-Id': request.id });
    const { route, findDomain = findVisibleDomain, openTo } = request.routeOptions.config;
    if (openTo === 'everyone') return;
    if (route?.access.kind === 'vantage' && !request.is404) {
      const signed = await vantages.verify(request.headers, route);
      if (signed instanceof Problem) return sendProblem(reply, signed);
      reply.raw.once('close', signed.release);
      if (reply.raw.destroyed) signed.release(); // it has gone meanwhile
      trustConnection(request.raw.socket);
      request.signed = signed;
      request.vantage = { name: signed.name, address: request.ip };
      return;
    }
    if (route?.access.kind === 'gateway' && !request.is404) {
      const { gateway = '' } = request.params as Record<string, string>;
      const notice = gateways.present(gateway, request.headers);
      if (notice instanceof Problem) return sendProblem(reply, notice);
      request.notice = notice;
      return;
    }
    if (isEdgePath(request.url)) {
      const refused = await admitEdge(edges, paths, request, proxies);
      if (refused !== undefined) return sendProblem(reply, refused);
      return;
    }
    const params = request.params as Record<string, string>;
    // the router lets the last parameter be empty: then it is another path, that of the list
    const isRouted = !request.is404 && !Object.values(params).includes('');
    const unrouted = isRouted ? undefined : paths.explain(request.method, pathOf(request.originalUrl));
    if (unrouted?.isOpen) return sendProblem(reply, unrouted.problem);
    const asker = askerOf(request, api.people);
    request.asker = asker;
    if (isRouted && route?.access.kind === 'public') {
      // Whoever signs in has no session yet: a browser that says that another site asks is refused, one that says nothing is not.
      const isForeign = asker.origin !== undefined && asker.origin !== api.people?.origin;
      if (isWrite(request.method) && isForeign) return sendProblem(reply, foreignOrigin());
      // Before the body is read: many at once must cost little.
      if (isWrite(request.method) && api.people?.turns.hasPlace(asker.address) === false)
        return sendProblem(reply, tooBusy());
      if (!presentsHeader(request.headers)) return;
    }
    const caller = await callerOf(request, reply, asker);
    if (caller instanceof Problem) {
      const signInAt = signInInstead(request, caller);
      return signInAt === undefined ? sendProblem(reply, caller) : reply.redirect(signInAt, 302);
    }
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
    const admitted: Admitted | Problem = await admit(api, caller, asked);
    if (admitted instanceof Problem) return sendProblem(reply, admitted);
    request.admitted = admitted;
    if (route?.follows === true) {
      const { 'last-event-id': lastEventId } = request.headers;
      request.following = {
        lastEventId: typeof lastEventId === 'string' ? lastEventId : undefined,
        judge: () =>
          judgeAgain(
            admitted,
            () => identify(request, asker),
            (again) => admit(api, again, asked),
          ),
      };
    }
  });
  app.addHook('onRequest', async (request, reply) => {
    request.response = reply.raw;
    // One parser takes every body, so an empty body is accepted with any Content-Type.
    const { headers } = request.raw;
    request.declaredType = headers['content-type'];
    if (headers['content-type'] !== undefined) headers['content-type'] = 'application/octet-stream';
  });
  app.addHook('preValidation', async (request, reply) => {
    // Before what is wrong with the body: whoever has not signed it learns nothing of it.
    const unsigned = request.notice?.judgeBody(Buffer.concat(request.received?.segments ?? []));
    if (unsigned !== undefined) return sendProblem(reply, unsigned);
    if (request.notice !== undefined) trustConnection(request.raw.socket);
    if (request.body instanceof Problem) return sendProblem(reply, request.body);
    const { signed } = request;
    if (signed !== undefined) {
      const refused = signed.judgeBody(Buffer.concat(request.received?.segments ?? []));
      signed.release();
      if (refused !== undefined) return sendProblem(reply, refused);
    }
    const unstorable = Object.entries(request.query as Record<string, string | string[]>).find(
      ([name, value]) => ![name, value].flat().every(isStorable),
    );
    if (unstorable !== undefined)
      return sendProblem(reply, invalid([{ field: unstorable[0], error: 'must not contain U+0000' }]));
  });
  app.addHook('onResponse', async (request) => closeUnread(request.raw));
  if (api.slowCalls !== undefined) watchSlowCalls(app as unknown as FastifyInstance, api.slowCalls);
  await options.prepare?.(app as unknown as FastifyInstance);
  const surfaces = [
    { routes: [...options.routes, ...(options.edgeRoutes ?? [])], findDomain: findVisibleDomain },
    { routes: options.resellerRoutes ?? [], findDomain: findClientsDomain },
  ];
  mountRoutes(app as unknown as FastifyInstance, api, surfaces, options.largeWork);
  await app.ready();
  return app as unknown as FastifyInstance;
}

function askerOf(request: FastifyRequest, people: People | undefined): Asker {
  const { headers, ip } = request;
  return {
    // A trusted proxy may pass on what is no address.
    address: isIP(ip) === 0 ? (request.raw.socket.remoteAddress ?? '') : ip,
    origin: headers.origin,
    userAgent: headers['user-agent'],
    cookies: people?.cookies.read(headers.cookie) ?? { session: undefined, device: undefined },
  };
}

/** On the surface of resellers too many requests have a code. */
function withRateCode(refused: Problem): Problem {
  const { status, error, code, headers } = refused;
  if (status !== PROBLEM_CODES.rate_limited || code !== undefined) return refused;
  return new Problem(status, error, { code: 'rate_limited', headers });
}

function routablePath(url: string): string {
  const path = pathOf(url);
  const isPath = path.startsWith('/') && isDecodable(path.split(/[?#]/, 1)[0] as string); // `*` is none
  return isPath ? path : NO_PATH;
}

/** Thrown to Fastify, which passes it to the error handler. */
class Refusal extends Error {
  readonly problem: Problem;

  constructor(refused: Problem) {
    super(refused.error);
    this.problem = refused;
  }
}

function validatorOf(schema: z.ZodType, isQuery: boolean) {
  return (value: unknown): { value: unknown } | { error: Error } => {
    if (value instanceof UnreadBody || value instanceof StreamedBody) return { value };
    const read = schema.safeParse(value);
    if (read.success) return { value: read.data };
    const fields = fieldProblems(read.error.issues, isQuery ? QUERY : BODY);
    return { error: new Refusal(invalid(fields)) };
  };
}

const SIGNED_AND_CLOSED = 'the domain is signed (DNSSEC) and cannot be written now; try again';

function explain(error: unknown, request: FastifyRequest, outages: OutageLog): Problem {
  if (error instanceof Refusal) {
    const { route } = request.routeOptions.config;
    return route?.explainInvalid?.(error.problem.members.fields ?? []) ?? error.problem;
  }
  const { statusCode } = error as { statusCode?: number };
  if (error instanceof NoTurn) {
    outages.note('busy', error);
    return unavailable('earlier writes of the domain are still under way; try again', 1);
  }
  const inThread = error instanceof ThreadError ? error : undefined;
  if (error instanceof DnssecUnavailable || inThread?.name === DNSSEC_UNAVAILABLE) {
    request.log.error({ err: error }, 'a signed zone cannot be written: see docs/operating.md "DNSSEC"');
    return new Problem(503, SIGNED_AND_CLOSED, {
      code: 'dnssec_unavailable',
      headers: { 'Retry-After': '60' },
    });
  }
  const outage = inThread === undefined ? outageOf(error) : inThread.outage;
  if (outage !== undefined) {
    outages.note(outage, error);
    const { words, retrySeconds } = OUTAGES[outage];
    const isOpen = isWrite(request.method) && (inThread?.mayBeCommitted ?? mayBeCommitted(error));
    return unavailable(`${words}; ${isOpen ? MAY_BE_DONE : 'try again'}`, retrySeconds);
  }
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    request.log.info({ err: error }, 'a request that the framework refused');
    return badRequest('the request cannot be read');
  }
  const url = hideSecret(request.url);
  request.log.error({ err: error, method: request.method, url }, 'unhandled error in request');
  return new Problem(500, 'internal error');
}
