// Serves /healthz and /readyz on the address of the API. METRICS_LISTEN serves them too (process/listen-health.ts).

import type { FastifyInstance } from 'fastify';
import type { Readiness } from '../process/listen-health.ts';
import { Problem } from './answers/problem.ts';
import { sendProblem } from './answers/send-problem.ts';
import { mountOpenPath } from './calls/paths.ts';

const NOT_READY_RETRY_SECONDS = '1';

export function addHealth(app: FastifyInstance, readiness: () => Promise<Readiness>): void {
  mountOpenPath(app, '/healthz', async () => ({ status: 'alive' }));
  mountOpenPath(app, '/readyz', async (_request, reply) => {
    const state = await readiness();
    if (state.kind === 'ready') return { status: 'ready' };
    const headers = { 'Retry-After': NOT_READY_RETRY_SECONDS };
    return sendProblem(reply, new Problem(503, state.reason, { headers }));
  });
}
