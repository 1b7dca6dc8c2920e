// Starts public calls, such as signing in, a few at a time between all others. A burst of them arrives in one round of the event
// loop: if all were started at once, they would keep the main thread from every other call.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { isWrite, type Route } from '../calls/route.ts';
import { isDecodable, pathOf } from './known-paths.ts';

/** How many begin in one round of the event loop. */
const IN_ONE_ROUND = 4;

type Begin = () => void;

/** Their number is bounded by the connections, each of which has one request at a time. */
class Aside {
  readonly #nextRound: (task: () => void) => void;
  #waiting: Begin[] = [];
  #isDue = false;

  constructor(nextRound: (task: () => void) => void) {
    this.#nextRound = nextRound;
  }

  /** In the order of the calls. */
  begin(work: Begin): void {
    this.#waiting.push(work);
    this.#plan();
  }

  #plan(): void {
    if (this.#isDue || this.#waiting.length === 0) return;
    this.#isDue = true;
    this.#nextRound(() => {
      this.#isDue = false;
      const now = this.#waiting.slice(0, IN_ONE_ROUND);
      this.#waiting = this.#waiting.slice(IN_ONE_ROUND);
      this.#plan();
      for (const work of now) work();
    });
  }
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Those who went away while they waited cost nothing more. */
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

/** By method and path alone: a header that anybody can add changes nothing. */
function publicWrites(routes: readonly Route[]): (method: string, url: string) => boolean {
  const theirs = routes.filter(({ access, method }) => access.kind === 'public' && isWrite(method));
  const paths = new Set(theirs.map(({ path }) => path));
  return (method, url) => {
    if (!isWrite(method)) return false;
    const path = pathOf(url).split(/[?#]/, 1)[0] as string;
    return isDecodable(path) && paths.has(decodeURI(path)); // as the router reads it
  };
}
