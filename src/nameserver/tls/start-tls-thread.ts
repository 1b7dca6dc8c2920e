// The main thread's side of the TLS thread: starts it, restarts it if it ends, and passes messages between it and the
// transfer thread. Copies of the listening sockets stay open here, because a restarted thread may no longer have the
// right to bind port 853 or 443.

import type { Worker } from 'node:worker_threads';
import { listenFault } from '../../process/listen-fault.ts';
import { createBackoff, type Log } from '../../process/reconnect.ts';
import { startThread, untilThreadEnds } from '../../process/start-thread.ts';
import type { TlsFiles } from '../../process/tls-files.ts';
import type { InheritedAddress } from '../handover/inherited.ts';
import { clearSlot, Image } from '../image/image.ts';
import type { Observer } from '../observe/start-observe-thread.ts';
import type { SlowPath } from '../slow-path/slow-path.ts';
import { F_DUPFD_CLOEXEC, type Libc, openLibc, SystemError } from '../threads/libc.ts';
import type { FromTlsThread, ListenError, TlsState, TlsThreadOptions, ToTlsThread } from './messages.ts';
import { SlowRelay } from './slow-relay.ts';

export interface TlsThread {
  /** Returns the numbers for the metrics. Returns undefined until the thread has sent some. */
  state(): TlsState | undefined;
  /** Listening sockets, which another process can use. Empty if the sockets cannot be copied. */
  readonly sockets: readonly InheritedAddress[];
  /** Stops accepting connections. Another process accepts on the same sockets. */
  release(): void;
  /** After `release`: resolves when no connection is left, or after the idle timeout. */
  finished(): Promise<void>;
  /** Stops listening and ends all connections. */
  stop(): Promise<void>;
}

export interface StartTlsOptions {
  readonly thread: Omit<TlsThreadOptions, 'tls' | 'slowPath' | 'sampling'>;
  /** Undefined if only DOH_PLAIN_LISTEN is set. */
  readonly files: TlsFiles | undefined;
  /** Undefined if the node has no transfer thread. */
  readonly slowPath: SlowPath | undefined;
  /** Undefined if no answers are sampled. */
  readonly observer?: Observer | undefined;
  readonly log: Log;
  /** Receives errors caused by queries, at most once per second. */
  readonly reportFailure: (error: unknown) => void;
  /** The module to run instead of tls-thread.ts. */
  readonly entry?: URL;
}

const ENTRY = new URL('./tls-thread.ts', import.meta.url);
/** A thread that has run for this long is restarted without a longer pause. */
const SOUND_LIFE_MS = 60_000;

/** Resolves when the thread listens. Throws StartFault if it cannot listen on an address. */
export async function startTlsThread(options: StartTlsOptions): Promise<TlsThread> {
  const { files, slowPath, log, reportFailure } = options;
  const libc = await openLibc().catch(() => undefined);
  const backoff = createBackoff();
  const sockets: InheritedAddress[] = [];
  let thread: Worker | undefined;
  let state: TlsState | undefined;
  let isStopping = false;
  let isReleased = false;
  let restart: NodeJS.Timeout | undefined;
  let finish = () => {};
  const finished = new Promise<void>((done) => {
    finish = done;
  });
  const post = (message: ToTlsThread) => {
    const { buffer } = (message.kind === 'answer' && message.octets) || {};
    thread?.postMessage(message, buffer instanceof ArrayBuffer ? [buffer] : []);
  };
  const relay = slowPath && new SlowRelay(slowPath, post);

  /** Starts the thread. Resolves when it listens, and rejects if it ends before. */
  const start = (inherited: readonly InheritedAddress[]) =>
    new Promise<void>((done, fail) => {
      const startedAtMs = performance.now();
      let fault: unknown;
      let isListening = false;
      const started = startThread('tls', options.entry ?? ENTRY, {
        ...options.thread,
        inherited,
        tls: files?.pair,
        slowPath: slowPath?.limit.memory,
        sampling: options.observer?.sampling,
      } satisfies TlsThreadOptions);
      thread = started;
      started.on('message', (message: FromTlsThread) => {
        if (message.kind === 'ask' || message.kind === 'more' || message.kind === 'close')
          relay?.receive(message);
        else if (message.kind === 'state') state = message.state;
        else if (message.kind === 'samples') options.observer?.post(message.samples);
        else if (message.kind === 'failure') reportFailure(message.error);
        else if (message.kind === 'log') log[message.level](message.fields, message.message);
        else if (message.kind === 'finished') finish();
        else if (message.kind === 'refused') fault = listenFault(message.setting, listenError(message.error));
        else if (message.kind === 'listening') {
          isListening = true;
          if (sockets.length === 0 && libc !== undefined)
            for (const { listen, descriptor } of message.sockets)
              sockets.push({ listen, udp: [], tcp: duplicate(libc, descriptor) });
          done();
        }
      });
      started.on('error', (error) => {
        fault = error;
      });
      started.on('exit', () => {
        thread = undefined;
        state = undefined;
        relay?.close();
        clearSlot(new Image(options.thread.image), options.thread.slot);
        if (isReleased) finish();
        if (isStopping || isReleased) return done();
        const why = fault ?? new Error('the TLS thread ended');
        if (!isListening) return fail(why);
        if (performance.now() - startedAtMs > SOUND_LIFE_MS) backoff.reset();
        restartLater(why);
      });
    });
  const restartLater = (why: unknown) => {
    const pauseMs = backoff.nextMs();
    log.error({ pauseMs, err: why }, 'the TLS thread ended: restarting it');
    restart = setTimeout(() => void startAgain().catch(restartLater), pauseMs);
  };
  /** Rejects if the thread does not listen, or if the process has too many open files. */
  const startAgain = async () =>
    start(sockets.map((socket) => ({ ...socket, tcp: duplicate(libc as Libc, socket.tcp) })));

  await start(options.thread.inherited);
  files?.watch((tls) => post({ kind: 'renew', tls }));
  return {
    state: () => state,
    sockets,
    release() {
      isReleased = true;
      clearTimeout(restart);
      if (thread === undefined) finish();
      post({ kind: 'release' });
    },
    finished: () => finished,
    async stop() {
      isStopping = true;
      clearTimeout(restart);
      files?.close();
      if (thread !== undefined) {
        post({ kind: 'stop' });
        await untilThreadEnds(thread);
      }
      for (const { tcp } of sockets.splice(0)) libc?.close(tcp);
    },
  };
}

function duplicate(libc: Libc, descriptor: number): number {
  const copy = libc.fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) throw new SystemError('fcntl', libc.errno());
  return copy;
}

function listenError({ message, ...fields }: ListenError): Error {
  return Object.assign(new Error(message), fields);
}
