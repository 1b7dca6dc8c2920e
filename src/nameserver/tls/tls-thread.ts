// The thread that answers over TLS: DNS over TLS (RFC 7858) and DNS over HTTPS (RFC 8484). TCP and UDP are answered by
// other threads, so that a flood of handshakes does not delay them.

import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { createServer } from 'node:tls';
import { parentPort, workerData } from 'node:worker_threads';
import type { ListenAddress } from '../../process/listen-address.ts';
import { Answerer } from '../answer/answer-query.ts';
import { openAnswerer } from '../answer/open-answerer.ts';
import { TRANSPORT } from '../answer/transports.ts';
import { type Samples, TimedSampler } from '../observe/sampler.ts';
import { SlowPathLimit } from '../slow-path/slow-path-limit.ts';
import { listenTcp, type TcpListener } from '../tcp/tcp.ts';
import { throttled } from '../threads/throttled.ts';
import { type DohListener, listenDoh } from './doh.ts';
import type { FromTlsThread, ListeningSocket, TlsState, TlsThreadOptions, ToTlsThread } from './messages.ts';
import { RelayedSlowPath } from './slow-relay.ts';
import { TlsServers } from './tls-servers.ts';

const STATE_MS = 1000;
const HANDSHAKES_POLL_MS = 20;

const options = workerData as TlsThreadOptions;
const port = parentPort as NonNullable<typeof parentPort>;
const post = (message: FromTlsThread) => port.postMessage(message);

/** Reports an unhandled error of a query. */
const reportFailure = throttled((error) =>
  post({ kind: 'failure', error: error instanceof Error ? error : String(error) }),
);

const answers = openAnswerer({ Answerer }, options, reportFailure);
const slowPath = options.slowPath && new RelayedSlowPath(new SlowPathLimit(options.slowPath), post);
const postSamples = (samples: Samples) =>
  port.postMessage({ kind: 'samples', samples } satisfies FromTlsThread, [samples.octets.buffer]);
const sampler = options.sampling && new TimedSampler(options.sampling, answers.counters, postSamples);
const servers = options.tls && new TlsServers(options.tls);
const { inherited } = options;

/** Listens for DNS over TLS. */
function listenDot(): Promise<TcpListener> | undefined {
  if (options.dotListen.length === 0 || servers === undefined) return undefined;
  const createDotServer = (accept: (socket: Socket) => void) =>
    servers.add(
      createServer({ ...servers.options, ALPNProtocols: ['dot'], noDelay: true }, (socket) => {
        // Only now: a peer that ends its side during the handshake is not waited for.
        socket.allowHalfOpen = true;
        accept(socket);
      }),
    );
  return listenTcp(
    options.dotListen,
    { ...answers, transport: TRANSPORT.TLS, sampler, slowPath },
    { inherited, createServer: createDotServer },
  ).catch((error) => refuse('DOT_LISTEN', error));
}

/** Listens for DNS over HTTPS. */
function listenHttps(): Promise<DohListener> | undefined {
  const { dohListen, dohPlainListen } = options;
  if (dohListen.length + dohPlainListen.length === 0) return undefined;
  const settings = { ...options.settings, hasTransfers: false };
  const { answerer } = openAnswerer({ Answerer }, { ...options, settings }, reportFailure);
  return listenDoh({
    listen: dohListen,
    plainListen: dohPlainListen,
    tls: servers,
    answers: { ...answers, answerer, sampler },
    inherited,
  }).catch((error: Partial<ListenAddress>) => {
    const isPlain = dohPlainListen.some(
      ({ address, port }) => address === error.address && port === error.port,
    );
    return refuse(isPlain ? 'DOH_PLAIN_LISTEN' : 'DOH_LISTEN', error as NodeJS.ErrnoException);
  });
}

/** Reports why the thread cannot listen, and ends it. */
function refuse(setting: string, error: NodeJS.ErrnoException & Partial<ListenAddress>): never {
  const { message, code, syscall, address, port: listenPort } = error;
  const where = address === undefined || listenPort === undefined ? {} : { address, port: listenPort };
  post({ kind: 'refused', setting, error: { message, code, syscall, ...where } });
  process.exit(); // ends only the thread
}

const dot = await listenDot();
const doh = await listenHttps();

const listeners = [
  { listen: options.dotListen, listener: dot },
  { listen: [...options.dohListen, ...options.dohPlainListen], listener: doh },
];
const sockets = listeners.flatMap(({ listen, listener }) =>
  (listener?.descriptors ?? []).map((descriptor, i): ListeningSocket => {
    const { port: bound } = listener?.addresses[i] as ListenAddress;
    return { listen: { address: (listen[i] as ListenAddress).address, port: bound }, descriptor };
  }),
);
post({ kind: 'listening', sockets });

let lastState = '';
const states = setInterval(() => {
  const state: TlsState = {
    connections: (dot?.connections() ?? 0) + (doh?.connections() ?? 0),
    handshakes: servers?.handshakes.counts ?? { done: 0, failed: 0, timeout: 0, refused: 0 },
    resumed: servers?.handshakes.resumed ?? 0,
    dohStatuses: doh?.statuses() ?? {},
  };
  const text = JSON.stringify(state);
  if (text !== lastState) post({ kind: 'state', state });
  lastState = text;
}, STATE_MS);

async function release(): Promise<void> {
  dot?.stopAccepting();
  doh?.stopAccepting();
  while ((servers?.handshakes.inProgress ?? 0) > 0) await pause(HANDSHAKES_POLL_MS);
  await Promise.all([dot?.finished(), doh?.finished()]);
  post({ kind: 'finished' });
}

async function stop(): Promise<void> {
  clearInterval(states);
  servers?.close();
  await Promise.all([dot?.close(), doh?.close()]);
  process.exit(); // ends only the thread
}

port.on('message', (message: ToTlsThread) => {
  if (message.kind === 'renew') servers?.renew(message.tls);
  else if (message.kind === 'release') void release();
  else if (message.kind === 'stop') void stop();
  else slowPath?.receive(message);
});
