// Notes calls that took long. Streams and calls that wait for other processes take long by intent: they are left out.

import type { FastifyInstance } from 'fastify';
import type { SlowCalls } from '../calls/slow-calls.ts';

export function watchSlowCalls(app: FastifyInstance, slowCalls: SlowCalls): void {
  app.addHook('onResponse', async (request, reply) => {
    const { route } = request.routeOptions.config;
    if (request.is404 || route === undefined || route.waits === true || route.follows === true) return;
    const { method, admitted } = request;
    const ms = Math.round(reply.elapsedTime);
    const accountId = admitted?.caller.account.id;
    slowCalls.note({ at: new Date(), method, route: route.path, status: reply.statusCode, ms, accountId });
  });
}
