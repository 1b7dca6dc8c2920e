// Responses on compatibility surfaces: APIs of other systems, whose clients expect other statuses and bodies than those of
// this API.

import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { Problem } from './problem.ts';

/** An API of another system. */
export interface CompatSurface {
  /** Its name in metrics. */
  readonly name: string;
  /** Returns the response to a refused call in the form that clients of the surface expect. */
  readonly explain: (problem: Problem) => CompatAnswer;
}

interface CompatFields {
  readonly status?: number;
  /** Media type of the body. */
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Headers of a 401. Some clients send the API key as a password only after this challenge (RFC 7617 §2). */
export const BASIC_CHALLENGE = { 'WWW-Authenticate': 'Basic realm="Zonefleet"' };

const JSON_TYPE = 'application/json';
const TEXT_TYPE = 'text/plain; charset=utf-8';

export class CompatAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The body as text, whole or in pieces. Undefined if the response has no body. */
  readonly body: string | AsyncIterable<string> | undefined;

  constructor(
    body: CompatAnswer['body'],
    { status = 200, type = TEXT_TYPE, headers = {} }: CompatFields = {},
  ) {
    this.body = body;
    this.status = status;
    this.headers = body === undefined ? headers : { 'Content-Type': type, ...headers };
  }

  static json(value: unknown, fields: CompatFields = {}): CompatAnswer {
    return new CompatAnswer(JSON.stringify(value), { type: JSON_TYPE, ...fields });
  }
}

export function sendCompat(reply: FastifyReply, { status, headers, body }: CompatAnswer): FastifyReply {
  reply.code(status).headers(headers);
  // Text is sent as octets, because Fastify rewrites the Content-Type of text, and some clients compare it.
  return reply.send(typeof body === 'string' ? Buffer.from(body) : body && Readable.from(body));
}
