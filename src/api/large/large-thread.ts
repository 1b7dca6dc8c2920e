// A thread that handles large calls, one at a time, with its own connections to PostgreSQL, so that long work does
// not delay the main thread. It processes each call from the bytes of the body to the bytes of the response.

import { constants, setPriority } from 'node:os';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { FastifyBaseLogger } from 'fastify';
import { z } from 'zod';
import { networksOf } from '../../dns/record/network.ts';
import { COMPAT_ROUTES, RESELLER_ROUTES, ROUTES } from '../../features/every-route.ts';
import { openCountryDb } from '../../process/country-db.ts';
import { warnOncePerMinute } from '../../process/reconnect.ts';
import { openDatabase } from '../../store/postgres/database.ts';
import { KeyBoxes, useKeyBoxes } from '../../store/secrets/key-boxes.ts';
import { CompatAnswer } from '../answers/compat-answer.ts';
import { encodeOctets } from '../answers/encoding.ts';
import { Problem } from '../answers/problem.ts';
import { StreamedArray, StreamedText } from '../answers/streams.ts';
import { judgeBody } from '../body/field-problems.ts';
import { readBody } from '../body/read-body.ts';
import { answerCall, type CallAnswer } from '../calls/answer-call.ts';
import type { Api } from '../calls/call.ts';
import { Services } from '../calls/call.ts';
import type { Route } from '../calls/route.ts';
import {
  type FromThread,
  type LargeAnswer,
  type LargeCall,
  type LogLevel,
  packError,
  type ThreadSettings,
  type ToThread,
} from './large-call.ts';

const NO_BODY = z.strictObject({}).nullable();

async function answerLargeCall(
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
  return encoded(route, printAnswer(route, await answerCall(api, route, asked, (work) => work())), call);
}

function printAnswer(route: Route, answer: CallAnswer): LargeAnswer {
  if (answer.kind === 'problem' && route.compat !== undefined)
    return packCompat(route, route.compat.explain(answer.problem), {});
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
  if (outcome instanceof CompatAnswer) return packCompat(route, outcome, headers);
  if (outcome instanceof StreamedArray || outcome instanceof StreamedText) {
    throw new Error(noStream(route));
  }
  return { status: 200, headers, body: encodeJson(route.response.parse(outcome)) };
}

function encoded({ compresses }: Route, answer: LargeAnswer, { accepted }: LargeCall): LargeAnswer {
  if (compresses !== true || answer.status !== 200) return answer;
  const { body, encoding } = encodeOctets(answer.body, accepted);
  const headers = { ...answer.headers, Vary: 'Accept-Encoding' };
  return encoding === undefined
    ? { ...answer, headers }
    : { ...answer, headers: { ...headers, 'Content-Encoding': encoding }, body };
}

function packCompat(
  route: Route,
  { status, headers, body = '' }: CompatAnswer,
  more: Readonly<Record<string, string>>,
): LargeAnswer {
  if (typeof body !== 'string') throw new Error(noStream(route));
  return { status, headers: { ...more, ...headers }, body: new TextEncoder().encode(body) };
}

const noStream = ({ operationId }: Route) =>
  `${operationId} accepts large bodies, so it must not respond with a stream`;

function encodeJson(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

const MAX_CONNECTIONS = 2;
/** Priority of the thread: it gets a tenth of the processor when other threads need it (sched(7)). */
const LOW_PRIORITY = constants.priority.PRIORITY_BELOW_NORMAL;
const LEVELS: readonly LogLevel[] = ['fatal', 'error', 'warn', 'info', 'debug', 'trace'];

yieldToOthers();

const port = parentPort as MessagePort;
const settings = workerData as ThreadSettings;
const say = (message: FromThread) =>
  port.postMessage(message, message.kind === 'answer' ? [message.answer.body.buffer as ArrayBuffer] : []);

const log = postedLog();
const warn = warnOncePerMinute(log);
const db = openDatabase(settings.databaseUrl, {
  maxConnections: MAX_CONNECTIONS,
  onError: (error) => warn(error, 'an idle connection to the database broke'),
});
useKeyBoxes(db, new KeyBoxes(settings.keySecrets));
const noWorkers = { enqueueNow: () => Promise.reject(new Error('large calls must not enqueue jobs')) };
const api: Api = {
  db,
  allowReservedNames: settings.allowReservedNames,
  services: new Services(),
  checks: noWorkers,
  verifications: noWorkers,
  scans: noWorkers,
  payments: { gateways: new Map() },
  countryOf: await openCountryDb(settings.countryDb),
  originAllow: networksOf(...settings.originAllow),
  ...settings.newDomains,
};

let gone = new AbortController();
port.on('message', (message: ToThread) => {
  if (message.kind === 'gone') gone.abort(message.reason);
  else if (message.kind === 'call') void work(message.call);
  else void end();
});

async function work(call: LargeCall): Promise<void> {
  gone = new AbortController();
  try {
    const route = [...ROUTES, ...RESELLER_ROUTES, ...COMPAT_ROUTES].find(
      ({ operationId }) => operationId === call.operationId,
    );
    if (route === undefined) throw new Error(`unknown route ${call.operationId}`);
    say({ kind: 'answer', answer: await answerLargeCall(api, route, call, { log, gone: gone.signal }) });
  } catch (error) {
    say({ kind: 'failed', error: packError(error) });
  }
}

/** Prefers the main thread on a busy machine. On Linux, the priority applies to this thread only. */
function yieldToOthers(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(LOW_PRIORITY);
  } catch {
    // A system call filter may forbid it. The thread works without it.
  }
}

async function end(): Promise<void> {
  await db.destroy();
  port.close();
}

/** Returns a logger that posts its lines to the main thread, which writes them with the request id. */
function postedLog(): FastifyBaseLogger {
  const lines = LEVELS.map((level) => [
    level,
    (what: unknown, message?: string) => say({ kind: 'log', level, what, message }),
  ]);
  const posted = { ...Object.fromEntries(lines), level: 'info', silent: () => {}, child: () => posted };
  return posted as unknown as FastifyBaseLogger;
}
