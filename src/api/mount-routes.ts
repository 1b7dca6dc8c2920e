// Puts declared routes behind their guards: a request is admitted before its body is read, then its body and query are
// checked against the schemas, then the handler runs, inside a transaction of its own when it has an Idempotency-Key.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Database } from '../store/database.ts';
import { allowLong } from '../store/deadlines.ts';
import { type Answer, type CondensedResponse, type RunOnce, runOnce } from '../store/idempotency.ts';
import { type Api, STOPPING } from './call.ts';
import type { Admitted } from './guard.ts';
import { findReplay, idempotentRequest, remakeAnswer, storedResponse } from './idempotency.ts';
import { allowedMethods } from './open-path.ts';
import { Problem, problem, sendProblem } from './problem.ts';
import { isWrite, type Route } from './route.ts';
import { openArrayStream, StreamedArray } from './stream-array.ts';
import { openTextStream, StreamedText } from './stream-text.ts';
import { type TurnLimits, Turns } from './turns.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    route?: Route;
    /** Of what is no declared route: answers without a key. */
    openTo?: 'everyone';
  }
  interface FastifyRequest {
    /** Undefined on public routes. */
    admitted: Admitted | undefined;
    octets: Uint8Array;
    declaredType: string | undefined;
  }
}

const LARGE_BODY_OCTETS = 32 * 1024 * 1024;
export const BODY_OCTETS = 1024 * 1024;
/** Bodies from which on the work in a transaction is long. */
const LONG_OCTETS = 256 * 1024;
/** Of calls that wait for other processes: the longest do so for 55 s. */
const WAITING_TURNS: TurnLimits = { waitMs: 60_000, waiting: 100 };
const NO_BODY = z.strictObject({}).nullable();

export function mountRoutes(app: FastifyInstance, api: Api, routes: readonly Route[]): void {
  const stopping = new AbortController();
  app.addHook('preClose', async () => stopping.abort(STOPPING));
  const turns = new Turns();
  const waits = new Turns(WAITING_TURNS);
  for (const route of [...routes, ...optionsRoutes(routes)]) {
    app.route({
      method: route.method,
      url: route.path.replaceAll(/\{(\w+)\}/g, ':$1'),
      schema: {
        ...(isWrite(route.method) ? { body: route.body ?? NO_BODY } : {}),
        ...(route.query === undefined ? {} : { querystring: route.query }),
        response: { 200: route.response },
      },
      ...(route.largeBody === true ? { bodyLimit: LARGE_BODY_OCTETS } : {}),
      config: { route },
      handler: (request, reply) =>
        respond(api, route, request, reply, {
          stopping: stopping.signal,
          turns: route.waits === true ? waits : turns,
        }),
    });
  }
}

async function respond(
  api: Api,
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
  { stopping, turns }: { readonly stopping: AbortSignal; readonly turns: Turns },
) {
  const { admitted } = request;
  const inTurn = <T>(work: () => Promise<T>): Promise<T> =>
    admitted?.domain !== undefined && isWrite(route.method) ? turns.run(admitted.domain.id, work) : work();
  const key = admitted?.idempotencyKey;
  if (admitted === undefined || key === undefined || route.writesNothing === true) {
    const begin = () => run(api, route, request, reply, stopping);
    const { outcome, headers } = await (route.waits === true ? begin() : inTurn(begin));
    if (outcome instanceof Problem) return sendProblem(reply, outcome);
    reply.headers(headers);
    if (outcome instanceof StreamedText) {
      const type = `${route.textResponse ?? 'text/plain'}; charset=utf-8`;
      return reply.header('Content-Type', type).send(openTextStream(outcome.lines));
    }
    if (!(outcome instanceof StreamedArray)) return reply.send(outcome);
    const stream = await openArrayStream(outcome.items);
    return reply.header('Content-Type', 'application/json; charset=utf-8').send(stream);
  }
  const asked = idempotentRequest(request, key, admitted.caller);
  const answer = async (db: Database): Promise<Answer> => {
    // The transaction waits while the body is worked on.
    if (db.isTransaction && request.octets.length >= LONG_OCTETS) await allowLong(db);
    const { outcome, headers, rest } = await run({ ...api, db }, route, request, reply, stopping);
    return storedResponse(
      outcome instanceof Problem ? outcome : route.response.parse(outcome),
      headers,
      rest,
    );
  };
  const once: RunOnce = await inTurn(async () => {
    if (route.waits !== true) return await runOnce(api.db, asked, answer);
    const before = await findReplay(api.db, asked);
    if (before !== undefined) return before;
    const response = await answer(api.db);
    return await runOnce(api.db, asked, async () => response);
  });
  if (once.kind === 'mismatch') {
    return sendProblem(
      reply,
      problem('idempotency_mismatch', 'this Idempotency-Key was used for another request'),
    );
  }
  const { status, headers, body } =
    once.kind === 'response'
      ? once.response
      : await remakeAnswer(once.response, (kept) => remake(api, route, request, kept));
  if (once.kind === 'condensed' || once.replayed) reply.header('Idempotent-Replay', 'true');
  // Not through the schema: a stored answer stays as it was given, whatever the schema is by now.
  reply.code(status).headers(headers).header('Content-Type', 'application/json; charset=utf-8');
  return reply.serializer(JSON.stringify).send(body);
}

async function run(
  api: Api,
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
  stopping: AbortSignal,
) {
  const headers: Record<string, string> = {};
  let rest: unknown;
  const outcome: unknown = await route.run({
    api,
    caller: request.admitted?.caller,
    domain: request.admitted?.domain,
    found: request.admitted?.found,
    params: request.admitted?.params ?? {},
    query: request.query,
    body: request.body,
    url: request.url,
    log: request.log,
    idempotencyKey: request.admitted?.idempotencyKey,
    get gone() {
      const gone = new AbortController();
      reply.raw.once('close', () => gone.abort());
      if (reply.raw.destroyed) gone.abort();
      return AbortSignal.any([gone.signal, stopping]);
    },
    answerHeader(name: string, value: string | number) {
      headers[name] = String(value);
    },
    answerRest(value: unknown) {
      rest = value;
    },
  });
  return { outcome, headers, rest };
}

/** Behind the transaction and the domain's turn: it may take as long as the first call did. */
async function remake(
  api: Api,
  route: Route,
  request: FastifyRequest,
  { headers, changeId, rest }: CondensedResponse,
): Promise<unknown> {
  const domain = request.admitted?.domain;
  if (route.remake === undefined || domain === undefined) return undefined;
  const made = await route.remake({ api, domain, body: request.body, headers, changeId, rest });
  const read = route.response.safeParse(made);
  return read.success ? read.data : undefined;
}

/** One OPTIONS for each path, for whoever may see what is there. */
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
      summary: 'The methods of this path.',
      access:
        access.kind === 'domain'
          ? {
              kind: 'domain',
              permission: 'domain.view',
              whileDisabled: true,
              writesRecords: true,
              wholeKeys: false,
            }
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
