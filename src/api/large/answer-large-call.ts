// Answers a large call, from its bytes to the bytes of its answer: what the framework does for a small one, in one
// place.

import type { FastifyBaseLogger } from 'fastify';
import { z } from 'zod';
import { Problem } from '../answers/problem.ts';
import { StreamedArray } from '../answers/stream-array.ts';
import { StreamedText } from '../answers/stream-text.ts';
import { judgeBody } from '../body/judge-body.ts';
import { readBody } from '../body/read-body.ts';
import { answerCall, type CallAnswer } from '../calls/answer-call.ts';
import type { Api } from '../calls/call.ts';
import type { Route } from '../calls/route.ts';
import type { LargeAnswer, LargeCall } from './large-call.ts';

const NO_BODY = z.strictObject({}).nullable();

export async function answerLargeCall(
  api: Api,
  route: Route,
  call: LargeCall,
  { log, gone }: { readonly log: FastifyBaseLogger; readonly gone: AbortSignal },
): Promise<LargeAnswer> {
  const { segments } = call;
  const body = readBody(Buffer.concat(segments), call.contentType, route);
  if (body instanceof Problem) return printAnswer(route, { kind: 'problem', problem: body });
  const judged = judgeBody(route, route.body ?? NO_BODY, body);
  if (judged instanceof Problem) return printAnswer(route, { kind: 'problem', problem: judged });
  const { method, url, admitted, query } = call;
  const asked = { method, url, admitted, query, body: judged.body, segments, log, gone };
  return printAnswer(route, await answerCall(api, route, asked, (work) => work()));
}

function printAnswer(route: Route, answer: CallAnswer): LargeAnswer {
  if (answer.kind === 'problem') {
    const { status, headers, body } = answer.problem;
    return { status, headers, body: encodeJson(body) };
  }
  if (answer.kind === 'stored') {
    const { status, headers, body } = answer.response;
    const replay = answer.replayed ? { 'Idempotent-Replay': 'true' } : {};
    return { status, headers: { ...headers, ...replay }, body: encodeJson(body) };
  }
  const { outcome, headers } = answer;
  if (outcome instanceof StreamedArray || outcome instanceof StreamedText) {
    throw new Error(`${route.operationId} takes large bodies and answers with a stream`);
  }
  return { status: 200, headers, body: encodeJson(route.response.parse(outcome)) };
}

function encodeJson(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}
