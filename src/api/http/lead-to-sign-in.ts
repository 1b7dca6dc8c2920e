// Pages that need a session, opened by a browser without one: it is led to the console's sign-in, which leads back. Whatever is
// not a browser that opens a page gets the 401 as JSON. The place to go to is the route's own: nothing of the request is in it.

import type { FastifyRequest } from 'fastify';
import type { Problem } from '../answers/problem.ts';
import { presentsHeader } from '../callers/authenticate.ts';

/** Where to sign in instead of reading this refusal; undefined: the refusal is the answer. */
export function signInInstead(
  { method, headers, routeOptions }: FastifyRequest,
  { status }: Problem,
): string | undefined {
  const opensPage = method === 'GET' && headers.accept?.includes('text/html') === true;
  if (status !== 401 || !opensPage || presentsHeader(headers)) return undefined;
  return routeOptions.config.signInAt;
}
