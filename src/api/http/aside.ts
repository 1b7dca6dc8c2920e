// Starts public calls, such as signing in, a few at a time in between other calls. If all calls of a burst started in
// the same round of the event loop, they would delay every other call.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { isWrite, type Route } from '../calls/route.ts';
import { isDecodable, pathOf } from './known-paths.ts';

/** Maximum number of calls that start in one round of the event loop. */
const CALLS_PER_ROUND = 4;

type Begin = () => void;

/** The connections bound the number of waiting calls, because each has one request at a time. */
class Aside {
  readonly #nextRound: (task: () => void) => void;
  #waiting: Begin[] = [];
  #isDue = false;

  constructor(nextRound: (task: () => void) => void) {
    this.#nextRound = nextRound;
  }

  /** Starts the calls in their order. */
  begin(work: Begin): void {
    this.#waiting.push(work);
    this.#plan();
  }

  #plan(): void {
    if (this.#isDue || this.#waiting.length === 0) return;
    this.#isDue = true;
    this.#nextRound(() => {
      this.#isDue = false;
      const now = this.#waiting.slice(0, CALLS_PER_ROUND);
      this.#waiting = this.#waiting.slice(CALLS_PER_ROUND);
      this.#plan();
      for (const work of now) work();
    });
  }
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Calls whose client disconnected while they waited are dropped. */
export function publicWritesAside(
  routes: readonly Route[],
  handler: Handler,
  nextRound: (task: () => void) => void = setImmediate,
): Handler {
  const aside = new Aside(nextRound);
  const isAside = publicWrites(routes);
  return (request, response) => {
    if (!isAside(request.method ?? '', request.url ?? '')) return handler(request, response);
    aside.begin(() => {
      if (!request.socket.destroyed) handler(request, response);
    });
  };
}

/** Decides by method and path only, because anyone can add headers. */
function publicWrites(routes: readonly Route[]): (method: string, url: string) => boolean {
  const writes = routes.filter(({ access, method }) => access.kind === 'public' && isWrite(method));
  const paths = new Set(writes.map(({ path }) => path));
  return (method, url) => {
    if (!isWrite(method)) return false;
    const path = pathOf(url).split(/[?#]/, 1)[0] as string;
    return isDecodable(path) && paths.has(decodeURI(path)); // as in the router
  };
}
