// The HTTP server without its sockets: guards, routes and the text of every error, so that no text of the framework
// is sent. Paths are compared literally: a different slash or letter case is a different path.

import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { serializerCompiler } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import { ANSWER_HEADERS } from '../../process/http/answer-headers.ts';
import { trustConnection } from '../../process/http/bounded-server.ts';
import { invalid, Problem } from '../answers/problem.ts';
import { sendProblem } from '../answers/send-problem.ts';
import { SMALL_BODY_BYTES } from '../body/body-bounds.ts';
import { isStorable } from '../body/read-body.ts';
import { presentsHeader } from '../callers/authenticate.ts';
import type { Api } from '../calls/call.ts';
import { findClientsDomain, findCompatDomain, findVisibleDomain } from '../calls/find-domain.ts';
import type { Route } from '../calls/route.ts';
import { watchSlowCalls } from '../calls/slow-calls.ts';
import type { LargeWork } from '../large/large-work.ts';
import { type RateLimits, RequestAdmission } from './admit-request.ts';
import { explainError, validatorOf } from './explain-error.ts';
import { isDecodable, KnownPaths, pathOf } from './known-paths.ts';
import { mountRoutes } from './mount-routes.ts';
import { OutageLog } from './outage-log.ts';
import { takeBody } from './take-body.ts';

interface ServerOptions extends RateLimits {
  readonly api: Api;
  readonly routes: readonly Route[];
  /** Routes for resellers, below their prefix. */
  readonly resellerRoutes?: readonly Route[];
  /** Routes for edge nodes, below a prefix of their own. */
  readonly edgeRoutes?: readonly Route[];
  /** Routes of other systems' APIs. */
  readonly compatRoutes?: readonly Route[];
  /** Networks whose `X-Forwarded-For` header is trusted. */
  readonly trustedProxies?: readonly string[];
  readonly log: FastifyBaseLogger;
  /** Records every call that fails because of the database. */
  readonly outages?: OutageLog;
  /** If undefined, large bodies are handled in this thread, like small ones. */
  readonly largeWork?: LargeWork | undefined;
  /** Mounts all other paths, such as the OpenAPI documents and health checks, before the routes. */
  readonly prepare?: (app: FastifyInstance) => Promise<void>;
}

const OUTAGE_TICK_MS = 5000;
/** Longer than a whole header (16 KiB). For a longer parameter, the framework would respond with its own text. */
const MAX_PARAMETER_CHARACTERS = 16 * 1024;
/** Replaces a path that cannot be decoded. No route matches it. */
const NO_PATH = '/%00';
const LINGER_MS = 5000;

export async function createServer(options: ServerOptions): Promise<FastifyInstance> {
  const { api, log, trustedProxies = [], largeWork } = options;
  const app = openFastify(log, trustedProxies);
  app.addContentTypeParser('*', (request: FastifyRequest, payload: IncomingMessage) =>
    takeBody(request, payload, largeWork),
  );
  const outages = options.outages ?? new OutageLog(log);
  const ticking = setInterval(() => outages.tick(), OUTAGE_TICK_MS).unref();
  app.addHook('onClose', async () => clearInterval(ticking));
  app.setErrorHandler((error, request, reply) => sendProblem(reply, explainError(error, request, outages)));
  app.setNotFoundHandler((_request, reply) => sendProblem(reply, new Problem(404, 'path not found')));

  const paths = new KnownPaths();
  paths.watch(app);
  const { rateLimit, sessionRateLimit, resellerRateLimit } = options;
  const limits = { rateLimit, sessionRateLimit, resellerRateLimit };
  const admission = new RequestAdmission({ api, paths, trustedProxies, ...limits });
  app.addHook('onClose', () => admission.settle());
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ ...ANSWER_HEADERS, 'X-Request-Id': request.id });
    const refused = await admission.admit(request, reply);
    if (refused === undefined) return;
    const signInAt = signInInstead(request, refused);
    return signInAt === undefined ? sendProblem(reply, refused) : reply.redirect(signInAt, 302);
  });
  app.addHook('onRequest', async (request, reply) => {
    request.response = reply.raw;
    // One parser handles all bodies, so that an empty body is accepted with any Content-Type.
    const { headers } = request.raw;
    request.declaredType = headers['content-type'];
    if (headers['content-type'] !== undefined) headers['content-type'] = 'application/octet-stream';
  });
  app.addHook('preValidation', async (request, reply) => {
    const refused = judgeReceived(request);
    return refused && sendProblem(reply, refused);
  });
  app.addHook('onResponse', async (request) => closeUnread(request.raw));
  if (api.slowCalls !== undefined) watchSlowCalls(app, api.slowCalls);
  await options.prepare?.(app);
  const surfaces = [
    { routes: [...options.routes, ...(options.edgeRoutes ?? [])], findDomain: findVisibleDomain },
    { routes: options.resellerRoutes ?? [], findDomain: findClientsDomain },
    { routes: options.compatRoutes ?? [], findDomain: findCompatDomain },
  ];
  mountRoutes(app, api, surfaces, largeWork);
  await app.ready();
  return app;
}

function openFastify(log: FastifyBaseLogger, trustedProxies: readonly string[]): FastifyInstance {
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
  }) as unknown as FastifyInstance;
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
  return app;
}

function routablePath(url: string): string {
  const path = pathOf(url);
  const isPath = path.startsWith('/') && isDecodable(path.split(/[?#]/, 1)[0] as string); // `*` is not a path
  return isPath ? path : NO_PATH;
}

/**
 * Returns the console's sign-in page if a browser without a session opens a page that needs one. All other clients
 * get the 401 as JSON. The target depends only on the route, not on the request.
 */
function signInInstead(
  { method, headers, routeOptions }: FastifyRequest,
  { status }: Problem,
): string | undefined {
  const opensPage = method === 'GET' && headers.accept?.includes('text/html') === true;
  if (status !== 401 || !opensPage || presentsHeader(headers)) return undefined;
  return routeOptions.config.signInAt;
}

/** Checks the signature before the body, so that a client without one learns nothing about the body. */
function judgeReceived(request: FastifyRequest): Problem | undefined {
  const { notice, signed, body, received, query } = request;
  const unsigned = notice?.judgeBody(Buffer.concat(received?.segments ?? []));
  if (unsigned !== undefined) return unsigned;
  if (notice !== undefined) trustConnection(request.raw.socket);
  if (body instanceof Problem) return body;
  if (signed !== undefined) {
    const refused = signed.judgeBody(Buffer.concat(received?.segments ?? []));
    signed.release();
    if (refused !== undefined) return refused;
  }
  const unstorable = Object.entries(query as Record<string, string | string[]>).find(
    ([name, value]) => ![name, value].flat().every(isStorable),
  );
  return unstorable && invalid([{ field: unstorable[0], error: 'must not contain U+0000' }]);
}

/**
 * Closes a connection whose request was answered before its body had arrived. The client has some time to read the
 * response. The rest of the body is discarded.
 */
function closeUnread(request: IncomingMessage): void {
  if (request.complete !== false || request.socket.destroyed) return;
  request.resume();
  const timer = setTimeout(() => request.socket.destroy(), LINGER_MS).unref();
  request.once('end', () => clearTimeout(timer));
}
