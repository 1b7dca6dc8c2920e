// Records the slow calls of this process for global admins: the route, the duration and the account. Paths, queries and bodies
// are not recorded, because they contain names and secrets.

import type { FastifyInstance } from 'fastify';

/** So many milliseconds from a request to the end of its answer are slow. */
const SLOW_MS = 500;
const KEPT = 200;

interface SlowCall {
  readonly at: Date;
  readonly method: string;
  /** With names of parameters in place of values. */
  readonly route: string;
  readonly status: number;
  readonly ms: number;
  /** Undefined: nobody was signed in. */
  readonly accountId: number | undefined;
}

export class SlowCalls {
  /** The newest is the last. */
  readonly #calls: SlowCall[] = [];

  note(call: SlowCall): void {
    if (call.ms < SLOW_MS) return;
    this.#calls.push(call);
    if (this.#calls.length > KEPT) this.#calls.shift();
  }

  /** The newest first. */
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
