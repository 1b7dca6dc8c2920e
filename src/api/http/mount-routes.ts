// Mounts declared routes behind their guards. A request is admitted before its body is read. Then its body and query
// are validated by the schemas, and the handler runs. For a large body, a thread does the last two steps.

import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { abortWith } from '../../process/bound-signal.ts';
import { CompatAnswer, sendCompat } from '../answers/compat-answer.ts';
import { type Accepted, acceptedEncoding, encodeBody } from '../answers/encoding.ts';
import { Problem } from '../answers/problem.ts';
import { sendProblem } from '../answers/send-problem.ts';
import {
  openArrayStream,
  openLineStream,
  openTextStream,
  StreamedArray,
  StreamedLines,
  StreamedText,
} from '../answers/streams.ts';
import type { PresentedNotice } from '../callers/gateway-callers.ts';
import type { VerifiedVantage } from '../callers/vantage-callers.ts';
import { type AskedCall, answerCall, type CallAnswer, type InTurn } from '../calls/answer-call.ts';
import { type Api, type Following, STOPPING } from '../calls/call.ts';
import type { FindDomain } from '../calls/find-domain.ts';
import type { Admitted } from '../calls/guard.ts';
import { allowedMethods } from '../calls/paths.ts';
import { domainHead, isWrite, type Route } from '../calls/route.ts';
import { type TurnLimits, Turns } from '../calls/turns.ts';
import type { LargeAnswer } from '../large/large-call.ts';
import type { LargeWork } from '../large/large-work.ts';
import type { Asker } from '../people/people.ts';
import { type ReceivedBody, UnreadBody } from './take-body.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    route?: Route;
    findDomain?: FindDomain;
    /** Set on paths that are not declared routes. They need no authentication. */
    openTo?: 'everyone';
    /** Sign-in page to which a browser without a session is redirected. Only for pages that people open. */
    signInAt?: string;
  }
  interface FastifyRequest {
    /** Undefined if a public route is called without a session. */
    admitted: Admitted | undefined;
    /** The observer that signed the headers. */
    signed: VerifiedVantage | undefined;
    vantage: AskedCall['vantage'];
    edge: AskedCall['edge'];
    /** The notice of a payment gateway. Its signature is verified when the body has been received. */
    notice: PresentedNotice | undefined;
    asker: Asker | undefined;
    following: Following | undefined;
    /** Undefined if no body was received. */
    received: ReceivedBody | undefined;
    /** The response, which is closed when the client disconnects. */
    response: ServerResponse;
    declaredType: string | undefined;
  }
}

/** For calls that wait for other processes, for at most 55 s. */
const WAITING_TURNS: TurnLimits = { waitMs: 60_000, waiting: 100 };
const NO_BODY = z.strictObject({}).nullable();
const NO_QUERY = z.object({});

/** Objects that all routes share. */
interface Shared {
  readonly stopping: AbortSignal;
  readonly turns: Turns;
  readonly largeWork: LargeWork | undefined;
}

/** Routes, and the function that finds their domains. */
interface Surface {
  readonly routes: readonly Route[];
  readonly findDomain: FindDomain;
}

export function mountRoutes(
  app: FastifyInstance,
  api: Api,
  surfaces: readonly Surface[],
  largeWork: LargeWork | undefined,
): void {
  const stopping = new AbortController();
  app.addHook('preClose', async () => stopping.abort(STOPPING));
  const turns = new Turns();
  const waits = new Turns(WAITING_TURNS);
  const mounted = surfaces.flatMap(({ routes, findDomain }) =>
    [...routes, ...optionsRoutes(routes.filter(({ compat }) => compat === undefined))].map((route) => ({
      route,
      findDomain,
    })),
  );
  for (const { route, findDomain } of mounted) {
    app.route({
      method: route.method,
      exposeHeadRoute: route.writes !== true, // HEAD must not write
      url: route.path.replaceAll(/\{(\w+)\}/g, ':$1'),
      schema: {
        ...(isWrite(route.method) ? { body: route.body ?? NO_BODY } : {}),
        // OPTIONS is sent to the URL of another method, with that method's query
        ...(route.method === 'OPTIONS' ? {} : { querystring: queryOf(route) }),
        response: { 200: route.response },
      },
      config: { route, findDomain },
      handler: (request, reply) =>
        respond(api, route, request, reply, {
          stopping: stopping.signal,
          turns: route.waits === true ? waits : turns,
          largeWork,
        }),
    });
  }
}

function queryOf({ query = NO_QUERY, compat }: Route): z.ZodObject {
  return compat === undefined ? query.strict() : query;
}

async function respond(
  api: Api,
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
  { stopping, turns, largeWork }: Shared,
) {
  const { admitted, vantage, edge, method, url, query, body, log, received } = request;
  const inTurn: InTurn = (work) =>
    admitted?.domain !== undefined && isWrite(route.method) ? turns.run(admitted.domain.id, work) : work();
  let signal: AbortSignal | undefined;
  const gone = () => (signal ??= goneSignal(reply, stopping));
  if (largeWork !== undefined && admitted !== undefined) {
    if (body instanceof UnreadBody || route.isHeavy?.(body) === true) {
      const { segments, room } = received as ReceivedBody;
      const { operationId } = route;
      const contentType = route.compat === undefined ? request.declaredType : undefined;
      const accepted = acceptedBy(request, route);
      const call = { operationId, method, url, admitted, query, segments, contentType, accepted };
      const answer = await largeWork.answer({ call, log, gone: gone() }, inTurn);
      if (!(answer instanceof Problem)) room.hold(answer.body.length);
      return sendLargeAnswer(reply, answer);
    }
  }
  const asked: AskedCall = {
    method,
    url,
    admitted,
    vantage,
    edge,
    gateway: request.notice?.gateway,
    query,
    body,
    segments: received?.segments ?? [],
    asker: request.asker,
    following: request.following,
    log,
    inTurnOf: (domainId, work) => turns.run(domainId, work),
    get gone() {
      return gone();
    },
  };
  return sendAnswer(reply, route, await answerCall(api, route, asked, inTurn));
}

function goneSignal(reply: FastifyReply, stopping: AbortSignal): AbortSignal {
  const gone = new AbortController();
  const detach = abortWith(gone, stopping);
  const end = () => {
    detach();
    gone.abort();
  };
  if (reply.raw.destroyed) end();
  else reply.raw.once('close', end);
  return gone.signal;
}

const JSON_TYPE = 'application/json; charset=utf-8';

async function sendAnswer(reply: FastifyReply, route: Route, answer: CallAnswer) {
  if (answer.kind === 'problem') return sendProblem(reply, answer.problem);
  if (answer.kind === 'stored') {
    const { status, headers, body } = answer.response;
    if (answer.replayed) reply.header('Idempotent-Replay', 'true');
    reply.code(status).headers(headers).header('Content-Type', JSON_TYPE);
    return reply.serializer(JSON.stringify).send(body);
  }
  const { outcome, headers, cookies } = answer;
  reply.headers(headers);
  if (outcome instanceof CompatAnswer) return sendCompat(reply, outcome);
  if (cookies.length > 0) reply.header('Set-Cookie', cookies);
  if (outcome instanceof StreamedText) {
    const type = `${route.textResponse ?? 'text/plain'}; charset=utf-8`;
    return sendEncoded(reply, route, type, openTextStream(outcome.lines));
  }
  if (outcome instanceof StreamedLines) {
    return reply
      .header('Content-Type', route.textResponse ?? 'application/x-ndjson')
      .send(await openLineStream(outcome));
  }
  if (!(outcome instanceof StreamedArray)) return reply.send(outcome);
  return sendEncoded(reply, route, JSON_TYPE, await openArrayStream(outcome.pages));
}

function sendEncoded(reply: FastifyReply, route: Route, type: string, whole: Readable | string | Buffer) {
  reply.header('Content-Type', type);
  if (route.compresses !== true) return reply.send(whole);
  reply.header('Vary', 'Accept-Encoding');
  const isSent = reply.request.method !== 'HEAD' && !reply.raw.destroyed;
  const { body, encoding } = encodeBody(whole, isSent ? acceptedBy(reply.request, route) : undefined);
  if (encoding !== undefined) reply.header('Content-Encoding', encoding);
  return reply.send(body);
}

function acceptedBy({ headers }: FastifyRequest, { compresses }: Route): Accepted | undefined {
  return compresses === true ? acceptedEncoding(headers['accept-encoding'] as string | undefined) : undefined;
}

function sendLargeAnswer(reply: FastifyReply, answer: LargeAnswer | Problem) {
  if (answer instanceof Problem) return sendProblem(reply, answer);
  const { status, headers, body } = answer;
  return reply
    .code(status)
    .headers({ 'Content-Type': JSON_TYPE, ...headers })
    .send(body);
}

/** Returns one OPTIONS route per path, with the same access as the path. */
function optionsRoutes(routes: readonly Route[]): Route[] {
  const firsts = new Map(routes.toReversed().map((route) => [route.path, route]));
  return [...firsts.values()].map(({ path, access, params, tag }) => {
    const methods: string[] = routes.filter((route) => route.path === path).map(({ method }) => method);
    const allowed = allowedMethods(methods);
    return {
      method: 'OPTIONS',
      path,
      operationId: `options ${path}`,
      tag,
      summary: 'Lists the methods of this path.',
      access:
        access.kind === 'domain'
          ? domainHead('domain.view', { domainIn: access.domainIn, whileDisabled: true, writesRecords: true })
          : access,
      ...(params === undefined ? {} : { params }),
      response: z.object({ methods: z.array(z.string()) }),
      answerHeaders: ['Allow'],
      run(call) {
        call.answerHeader('Allow', allowed.join(', '));
        return { methods: allowed };
      },
    };
  });
}
