// Records the slow calls of this process for global admins: route, duration and account. Paths, queries and bodies
// are not recorded, because they contain names and secrets.

import type { FastifyInstance } from 'fastify';

/** A call is slow if it takes at least this many milliseconds from the request to the end of the response. */
const SLOW_MS = 500;
const KEPT = 200;

interface SlowCall {
  readonly at: Date;
  readonly method: string;
  /** Path of the route, with parameter names instead of values. */
  readonly route: string;
  readonly status: number;
  readonly ms: number;
  /** Undefined if the call was not authenticated. */
  readonly accountId: number | undefined;
}

export class SlowCalls {
  /** Sorted oldest first. */
  readonly #calls: SlowCall[] = [];

  note(call: SlowCall): void {
    if (call.ms < SLOW_MS) return;
    this.#calls.push(call);
    if (this.#calls.length > KEPT) this.#calls.shift();
  }

  /** Returns the calls, newest first. */
  list(): readonly SlowCall[] {
    return this.#calls.toReversed();
  }
}

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
