// The main thread's side of the transfer thread: starts it, restarts it if it ends, and passes messages between it, the
// receivers of slow-path messages and the image's thread.

import { setTimeout as pause } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { createBackoff, type Log } from '../../process/reconnect.ts';
import { startThread } from '../../process/start-thread.ts';
import type { ImageThread } from '../follow/start-image-thread.ts';
import { clearSlot, Image } from '../image/image.ts';
import type {
  FromTransferThread,
  ToTransferThread,
  TransferState,
  TransferThreadOptions,
} from '../transfer/messages.ts';
import type { SlowPath } from './slow-path.ts';

export interface TransferThread {
  /** Returns the numbers for the metrics. Returns undefined until the thread has sent some. */
  state(): TransferState | undefined;
  stop(): Promise<void>;
}

interface StartOptions {
  readonly thread: TransferThreadOptions;
  readonly slowPath: SlowPath;
  /** The thread that changes the zones. */
  readonly image: Pick<ImageThread, 'watch' | 'onZones'>;
  readonly log: Log;
  /** The module to run instead of transfer-thread.ts. */
  readonly entry?: URL;
}

const ENTRY = new URL('../transfer/transfer-thread.ts', import.meta.url);
const STOP_TIMEOUT_MS = 1000;
/** A thread that has run for this long is restarted without a longer pause. */
const SOUND_LIFE_MS = 60_000;

export function startTransferThread(options: StartOptions): TransferThread {
  const { slowPath, image, log } = options;
  const backoff = createBackoff();
  let thread: Worker | undefined;
  let state: TransferState | undefined;
  let isStopping = false;
  let restart: NodeJS.Timeout | undefined;
  const post = (message: ToTransferThread) => thread?.postMessage(message);

  const receive = (message: FromTransferThread) => {
    if (message.kind === 'answer' || message.kind === 'abort') slowPath.receive(message);
    if (message.kind === 'networks') slowPath.limit.exempt(message.networks);
    if (message.kind === 'active') image.watch(message.watches);
    if (message.kind === 'state') state = message.state;
    if (message.kind === 'log') log[message.level](message.fields, message.message);
  };
  const start = () => {
    const startedAtMs = performance.now();
    let fault: unknown;
    const started = startThread('transfers', options.entry ?? ENTRY, options.thread);
    thread = started;
    started.on('message', receive);
    started.on('error', (error) => {
      fault = error;
    });
    started.on('exit', () => {
      thread = undefined;
      slowPath.detach();
      clearSlot(new Image(options.thread.buffer), options.thread.slot);
      if (isStopping) return;
      if (performance.now() - startedAtMs > SOUND_LIFE_MS) backoff.reset();
      const pauseMs = backoff.nextMs();
      const why = fault === undefined ? {} : { err: fault };
      log.error({ pauseMs, ...why }, 'the transfer thread ended: restarting it');
      restart = setTimeout(start, pauseMs);
    });
    slowPath.attach(post);
  };
  image.onZones(post);
  start();
  return {
    state: () => state,
    async stop() {
      isStopping = true;
      clearTimeout(restart);
      const stopped = thread;
      if (stopped === undefined) return;
      post({ kind: 'stop' });
      const ended = new Promise<void>((done) => {
        stopped.on('exit', () => done());
        stopped.on('message', ({ kind }: FromTransferThread) => {
          if (kind === 'stopped') done();
        });
      });
      await Promise.race([ended, pause(STOP_TIMEOUT_MS, undefined, { ref: false })]);
      await stopped.terminate();
    },
  };
}
