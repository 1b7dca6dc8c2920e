// The UDP threads of a node, and a spare thread that has loaded everything: it replaces a thread that ends, at once.

import type { Worker } from 'node:worker_threads';
import { startThread } from '../../process/start-thread.ts';
import { UdpSeat, type UdpSeatOptions, untilEnded } from './udp-seat.ts';
import type { UdpSockets } from './udp-sockets.ts';
import type { ToUdpThread, UdpThreadStart } from './udp-thread-control.ts';

export interface UdpThreadsOptions extends UdpSeatOptions, UdpThreadStart {
  /** The sockets, which are closed with the threads. */
  readonly sockets: UdpSockets;
  /** Threads that already load their code (`loadUdpThreads`). */
  readonly loading?: Worker[];
  /** The interval at which it is checked that each thread's loop has turned. */
  readonly watchIntervalMs?: number;
}

const WATCH_INTERVAL_MS = 1000;
const SPARE_DELAY_MS = 500;

/** Starts threads that load their code while there is nothing to serve yet. */
export function loadUdpThreads(count: number, answerer: string): Worker[] {
  return Array.from({ length: count }, () => {
    const worker = startUdpThread(answerer);
    worker.on('error', () => {}); // whoever starts another in its place hears why
    return worker;
  });
}

function startUdpThread(answerer: string): Worker {
  const start: UdpThreadStart = { answerer };
  return startThread('udp', new URL('./udp-thread.ts', import.meta.url), start);
}

/** Whether the thread still runs: one that has ended has no id any more. */
function isThere(worker: Worker): boolean {
  return worker.threadId > 0;
}

export class UdpThreads {
  readonly #options: UdpThreadsOptions;
  readonly #seats: readonly UdpSeat[];
  readonly #watch: NodeJS.Timeout;
  #isStarted = false;
  #spare: Worker | undefined;
  #isSpareLoaded = false;
  #spareTimer: NodeJS.Timeout | undefined;

  private constructor(options: UdpThreadsOptions) {
    this.#options = options;
    this.#seats = options.sockets.ofThread.map((_, i) => new UdpSeat(i, options, () => this.#takeWorker()));
    this.#watch = setInterval(() => {
      for (const seat of this.#seats) seat.look();
    }, options.watchIntervalMs ?? WATCH_INTERVAL_MS);
    this.#watch.unref();
  }

  /** Resolves when all of them answer; rejects when one cannot be started: then none is left. */
  static async start(options: UdpThreadsOptions): Promise<UdpThreads> {
    const threads = new UdpThreads(options);
    try {
      await Promise.all(threads.#seats.map((seat) => seat.firstServing));
    } catch (error) {
      await threads.close();
      throw error;
    }
    threads.#isStarted = true;
    threads.#startSpareSoon();
    return threads;
  }

  /** The worker that answers on the sockets of `thread` at this moment. */
  worker(thread: number): Worker | undefined {
    return this.#seats[thread]?.worker;
  }

  /** Whether a thread that ends is replaced without a wait. */
  get hasSpare(): boolean {
    return this.#spare !== undefined && this.#isSpareLoaded;
  }

  async close(): Promise<void> {
    clearInterval(this.#watch);
    clearTimeout(this.#spareTimer);
    const ended = this.#seats.map((seat) => seat.end());
    this.#options.sockets.wake();
    this.#spare?.postMessage({ kind: 'end' } satisfies ToUdpThread);
    if (this.#spare !== undefined) ended.push(untilEnded(this.#spare));
    await Promise.all(ended);
    this.#options.sockets.close();
  }

  #startWorker(): Worker {
    const { loading, answerer } = this.#options;
    const loaded = loading?.pop();
    return loaded !== undefined && isThere(loaded) ? loaded : startUdpThread(answerer);
  }

  /** Starts the spare a little later: threads that serve come first. */
  #startSpareSoon(): void {
    clearTimeout(this.#spareTimer);
    this.#spareTimer = setTimeout(() => this.#startSpare(), SPARE_DELAY_MS);
    this.#spareTimer.unref();
  }

  #startSpare(): void {
    if (this.#spare !== undefined) return;
    const spare = this.#startWorker();
    this.#spare = spare;
    this.#isSpareLoaded = false;
    spare.once('message', () => {
      this.#isSpareLoaded = true;
    });
    spare.on('error', (error) => {
      if (this.#spare === spare) this.#options.log.warn({ err: error }, 'the spare UDP thread ended');
    });
    spare.on('exit', () => {
      if (this.#spare === spare) this.#spare = undefined; // whoever needs one starts it then
    });
    spare.unref();
  }

  /** Gives the spare, or a new thread. */
  #takeWorker(): Worker {
    const spare = this.#spare;
    if (this.#isStarted) this.#startSpareSoon();
    if (spare === undefined) return this.#startWorker();
    this.#spare = undefined;
    spare.ref();
    return spare;
  }
}
