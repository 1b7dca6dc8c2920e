// `/console/queues/`: shows Bull Board, read-only, to sessions of global admins. It runs in this process because
// sessions are checked here. It reads the queues over the API's own connection, so it needs no worker nearby.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { JobQueue } from '../../../jobs/job-queue.ts';
import { badRequest, invalid, notFound, unavailable } from '../../answers/problem.ts';
import { sendProblem } from '../../answers/send-problem.ts';
import { allowedMethods } from '../../calls/paths.ts';
import { admin, route } from '../../calls/route.ts';
import { SAFE_HEADERS, sendFile } from '../console-files.ts';
import type { Board } from './open-board.ts';

const BASE = '/console/queues/';
/** Sign-in of the console, which returns to the board afterwards. It accepts the name of a page, but no URL. */
const SIGN_IN = '/console/?open=queues';
/** The largest number that the board's settings offer. */
const MOST_JOBS = 300;
const RETRY_SECONDS = 5;

/** Like the policy of the console, but with a <base> of this origin, and without forms. */
const BOARD_POLICY = [
  "default-src 'self'",
  "object-src 'none'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The guards of admin routes apply: 401 without a session, 403 for API keys, and 404 for all others. */
const BOARD_ROUTE = route(admin, {
  method: 'GET',
  path: `${BASE}*`,
  operationId: 'adminBoard',
  tag: 'Fleet',
  summary: 'Returns the board of the queues.',
  response: z.string(),
  run: () => '',
});

/** The pages that the board's script shows, each at its own path. */
const PAGE = /^(|job-schedulers|queue\/[^/]+(\/[^/]+)?)$/;

/** Must be called before the console's own paths are mounted. `queues` is called at the first request of an admin. */
export function serveBoard(app: FastifyInstance, queues: () => readonly JobQueue<object>[]): void {
  let opening: Promise<Board> | undefined;
  /** Bull Board takes some tenths of a second to load, so it is not loaded at startup. */
  const open = async () => {
    const { openBoard } = await import('./open-board.ts');
    return await openBoard(queues(), BASE);
  };
  const config = { route: BOARD_ROUTE, signInAt: SIGN_IN };
  const methods = allowedMethods(['GET']);
  for (const url of ['/console/queues', BASE, `${BASE}*`]) {
    app.options(url, { config }, async (_request, reply) =>
      reply.header('Allow', methods.join(', ')).send({ methods }),
    );
  }
  app.get('/console/queues', { config }, async (_request, reply) => reply.redirect(BASE, 308));
  for (const url of [BASE, `${BASE}*`]) {
    app.get(url, { config }, async (request, reply) => {
      opening ??= open().catch((error: unknown) => {
        opening = undefined;
        throw error;
      });
      reply.headers({ ...SAFE_HEADERS, 'Content-Security-Policy': BOARD_POLICY });
      return await answer(await opening, request, reply);
    });
  }
}

async function answer(board: Board, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const path = (request.params as Record<string, string>)['*'] ?? '';
  if (path.includes('\0')) return sendProblem(reply, notFound('path')); // PostgreSQL cannot store it
  if (path.startsWith('api/')) return await answerRead(board, `/${path}`, request, reply);
  const [, name] = /^static\/(.+)$/.exec(path) ?? [];
  const file = PAGE.test(path) ? board.page : name === undefined ? undefined : await board.file(name);
  if (file === undefined) return sendProblem(reply, notFound('path'));
  return sendFile(request, reply, { file, policy: BOARD_POLICY, sharing: 'private' });
}

async function answerRead(
  board: Board,
  path: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const query = request.query as Record<string, unknown>;
  if (Number(query.jobsPerPage ?? 0) > MOST_JOBS)
    return sendProblem(reply, invalid([{ field: 'jobsPerPage', error: `must be at most ${MOST_JOBS}` }]));
  try {
    const read = await board.read(path, query);
    if (read === undefined) return sendProblem(reply, notFound('path'));
    reply.code(read.status).header('Content-Type', 'application/json; charset=utf-8');
    return reply.serializer((body) => String(body)).send(read.body);
  } catch (error) {
    if (error instanceof URIError) return sendProblem(reply, badRequest('the query cannot be decoded'));
    request.log.warn({ err: error }, 'the board could not read a queue');
    return sendProblem(reply, unavailable('the queue cannot be read now; try again', RETRY_SECONDS));
  }
}
