// Sends the response to a refused call.

import type { FastifyReply } from 'fastify';
import { sendCompat } from './compat-answer.ts';
import type { Problem } from './problem.ts';

export function sendProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  const surface = reply.request.routeOptions.config.route?.compat;
  if (surface !== undefined) return sendCompat(reply, surface.explain(problem));
  const { status, body, headers } = problem;
  return reply
    .code(status)
    .headers(headers)
    .header('Content-Type', 'application/json; charset=utf-8')
    .serializer(JSON.stringify) // instead of the schema of the success response
    .send(body);
}
