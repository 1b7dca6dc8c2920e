// /healthz and /readyz of the process, also on the API's address, and /metrics, only on an address of its own.

import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import type { Registry } from 'prom-client';
import { ANSWER_HEADERS } from '../process/answer-headers.ts';
import { isOurHost, MISDIRECTED, NOT_OUR_HOST } from '../process/judge-host.ts';
import { Problem, sendProblem } from './answers/problem.ts';
import { mountOpenPath } from './calls/open-path.ts';

/** Ready, or why not: in words for the operator. */
export type Readiness = { readonly kind: 'ready' } | { readonly kind: 'waiting'; readonly reason: string };

const NOT_READY_RETRY_SECONDS = '1';

export function addHealth(app: FastifyInstance, readiness: () => Promise<Readiness>): void {
  mountOpenPath(app, '/healthz', async () => ({ status: 'alive' }));
  mountOpenPath(app, '/readyz', async (_request, reply) => {
    const state = await readiness();
    if (state.kind === 'ready') return { status: 'ready' };
    return refuse(reply, 503, state.reason, { 'Retry-After': NOT_READY_RETRY_SECONDS });
  });
}

/** The server of METRICS_LISTEN, without its socket. `hosts`: METRICS_HOSTS. */
export async function createHealthServer(
  registry: Registry,
  readiness: () => Promise<Readiness>,
  hosts: readonly string[] = [],
): Promise<FastifyInstance> {
  const app = Fastify({ return503OnClosing: false });
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(ANSWER_HEADERS);
    if (!isOurHost(request.headers.host, hosts)) return refuse(reply, MISDIRECTED, NOT_OUR_HOST);
  });
  app.setNotFoundHandler((_request, reply) => refuse(reply, 404, 'one of /metrics, /healthz, /readyz'));
  app.setErrorHandler((_error, _request, reply) => refuse(reply, 500, 'internal error'));
  addHealth(app, readiness);
  mountOpenPath(app, '/metrics', async (_request, reply) => {
    return reply.header('Content-Type', registry.contentType).send(await registry.metrics());
  });
  await app.ready();
  return app;
}

function refuse(
  reply: FastifyReply,
  status: number,
  error: string,
  headers: Record<string, string> = {},
): FastifyReply {
  return sendProblem(reply, new Problem(status, error, { headers }));
}
