// Converts what the framework or a handler throws to a problem, so that no text of the framework is sent.

import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { DNSSEC_UNAVAILABLE, DnssecUnavailable } from '../../store/keys/signed-zone.ts';
import { mayBeCommitted } from '../../store/postgres/bounded-client.ts';
import { OUTAGES, outageOf } from '../../store/postgres/outage.ts';
import { badRequest, invalid, MAY_BE_DONE, Problem, unavailable } from '../answers/problem.ts';
import { BODY, fieldProblems, QUERY } from '../body/field-problems.ts';
import { hideSecret } from '../calls/paths.ts';
import { isWrite } from '../calls/route.ts';
import { NoTurn } from '../calls/turns.ts';
import { ThreadError } from '../large/large-call.ts';
import { StreamedBody } from '../requests/streamed-body.ts';
import type { OutageLog } from './outage-log.ts';
import { UnreadBody } from './take-body.ts';

/** Thrown to Fastify, which passes it to the error handler. */
class Refusal extends Error {
  readonly problem: Problem;

  constructor(refused: Problem) {
    super(refused.error);
    this.problem = refused;
  }
}

/** Returns the validator of a schema for Fastify. */
export function validatorOf(schema: z.ZodType, isQuery: boolean) {
  return (value: unknown): { value: unknown } | { error: Error } => {
    if (value instanceof UnreadBody || value instanceof StreamedBody) return { value };
    const read = schema.safeParse(value);
    if (read.success) return { value: read.data };
    const fields = fieldProblems(read.error.issues, isQuery ? QUERY : BODY);
    return { error: new Refusal(invalid(fields)) };
  };
}

const SIGNED_AND_CLOSED = 'the domain is signed (DNSSEC) and cannot be changed now; try again';

/** Returns the problem with which to respond to a failed request. */
export function explainError(error: unknown, request: FastifyRequest, outages: OutageLog): Problem {
  if (error instanceof Refusal) {
    const { route } = request.routeOptions.config;
    return route?.explainInvalid?.(error.problem.members.fields ?? []) ?? error.problem;
  }
  const { statusCode } = error as { statusCode?: number };
  if (error instanceof NoTurn) {
    outages.note('busy', error);
    return unavailable('earlier writes of the domain are still in progress; try again', 1);
  }
  const inThread = error instanceof ThreadError ? error : undefined;
  if (error instanceof DnssecUnavailable || inThread?.name === DNSSEC_UNAVAILABLE) {
    request.log.error(
      { err: error },
      'a signed zone could not be changed: see docs/operating/dnssec.md "DNSSEC"',
    );
    return new Problem(503, SIGNED_AND_CLOSED, {
      code: 'dnssec_unavailable',
      headers: { 'Retry-After': '60' },
    });
  }
  const outage = inThread === undefined ? outageOf(error) : inThread.outage;
  if (outage !== undefined) {
    outages.note(outage, error);
    const { words, retrySeconds } = OUTAGES[outage];
    const isOpen = isWrite(request.method) && (inThread?.mayBeCommitted ?? mayBeCommitted(error));
    return unavailable(`${words}; ${isOpen ? MAY_BE_DONE : 'try again'}`, retrySeconds);
  }
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    request.log.info({ err: error }, 'the framework refused a request');
    return badRequest('the request cannot be read');
  }
  const url = hideSecret(request.url);
  request.log.error({ err: error, method: request.method, url }, 'unhandled error in request');
  return new Problem(500, 'internal error');
}
