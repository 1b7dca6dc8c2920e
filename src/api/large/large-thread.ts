// A thread that handles large calls, one at a time, with its own connections to Postgres: long work here does not delay
// the main thread.

import { constants, setPriority } from 'node:os';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { FastifyBaseLogger } from 'fastify';
import { networksOf } from '../../dns/record/network.ts';
import { RESELLER_ROUTES, ROUTES } from '../../features/every-route.ts';
import { openCountryDb } from '../../process/country-db.ts';
import { openDatabase } from '../../store/postgres/database.ts';
import { useKeyBoxes } from '../../store/secrets/database-keys.ts';
import { KeyBoxes } from '../../store/secrets/key-boxes.ts';
import type { Api } from '../calls/call.ts';
import { Services } from '../calls/services.ts';
import { answerLargeCall } from './answer-large-call.ts';
import {
  type FromThread,
  type LargeCall,
  type LogLevel,
  packError,
  type ThreadSettings,
  type ToThread,
} from './large-call.ts';

const MAX_CONNECTIONS = 2;
/** The thread's priority: it gets a tenth of the processor when other threads want it (sched(7)). */
const BELOW_THE_OTHERS = constants.priority.PRIORITY_BELOW_NORMAL;
const LEVELS: readonly LogLevel[] = ['fatal', 'error', 'warn', 'info', 'debug', 'trace'];

yieldToOthers();

const port = parentPort as MessagePort;
const settings = workerData as ThreadSettings;
const say = (message: FromThread) =>
  port.postMessage(message, message.kind === 'answer' ? [message.answer.body.buffer as ArrayBuffer] : []);

const log = postedLog();
const db = openDatabase(settings.databaseUrl, {
  maxConnections: MAX_CONNECTIONS,
  onError: (error) => log.warn({ err: packError(error) }, 'an idle connection to the database broke'),
});
useKeyBoxes(db, new KeyBoxes(settings.keySecrets));
const noWorkers = { enqueueNow: () => Promise.reject(new Error('no large call asks the workers')) };
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
    const route = [...ROUTES, ...RESELLER_ROUTES].find(({ operationId }) => operationId === call.operationId);
    if (route === undefined) throw new Error(`there is no route ${call.operationId}`);
    say({ kind: 'answer', answer: await answerLargeCall(api, route, call, { log, gone: gone.signal }) });
  } catch (error) {
    say({ kind: 'failed', error: packError(error) });
  }
}

/** The main thread, which all other calls need, comes first on a busy machine. Linux sets it for this thread alone. */
function yieldToOthers(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(BELOW_THE_OTHERS);
  } catch {
    // A system call filter may forbid it; the thread works without it.
  }
}

async function end(): Promise<void> {
  await db.destroy();
  port.close();
}

/** A log that posts its lines: the main thread writes them, with the id of the request. */
function postedLog(): FastifyBaseLogger {
  const lines = LEVELS.map((level) => [
    level,
    (what: unknown, message?: string) => say({ kind: 'log', level, what, message }),
  ]);
  const posted = { ...Object.fromEntries(lines), level: 'info', silent: () => {}, child: () => posted };
  return posted as unknown as FastifyBaseLogger;
}
