// The UDP threads of a node, and a spare thread with all code loaded, which immediately replaces one that ends.

import type { Worker } from 'node:worker_threads';
import type { Log } from '../../process/reconnect.ts';
import { END_TIMEOUT_MS, isRunning, startThread, untilThreadEnds } from '../../process/start-thread.ts';
import type { AnswererParts } from '../answer/open-answerer.ts';
import { clearSlot, Image } from '../image/image.ts';
import type { Observer } from '../observe/start-observe-thread.ts';
import type { SlowPath } from '../slow-path/slow-path.ts';
import type { XdpQueue } from '../xdp/queue.ts';
import type { Xdp } from '../xdp/xdp.ts';
import {
  CONTROL,
  CONTROL_BYTES,
  type FromUdpThread,
  STOP,
  type ToUdpThread,
  type UdpThreadParts,
  type UdpThreadStart,
} from './messages.ts';
import { addressOf, type SlowPacket } from './slow-packet.ts';
import type { UdpSockets } from './udp-sockets.ts';

export interface UdpThreadsOptions extends UdpThreadStart {
  /** The sockets, which are closed with the threads. */
  readonly sockets: UdpSockets;
  /** Each queue gets a thread, in addition to those of the sockets. It is closed with the threads. */
  readonly xdp?: Xdp | undefined;
  readonly parts: (thread: number) => AnswererParts;
  /** Undefined if the node has no transfer thread. */
  readonly slowPath?: SlowPath | undefined;
  /** Undefined if no answers are sampled. */
  readonly observer?: Observer | undefined;
  readonly log: Log;
  /** Receives errors caused by queries, at most once per second from each thread. */
  readonly reportFailure: (error: unknown) => void;
  /** Threads that are already loading their code (`loadUdpThreads`). */
  readonly loading?: Worker[];
  /** The interval at which each thread's loop is checked for progress. */
  readonly watchIntervalMs?: number;
}

const WATCH_INTERVAL_MS = 1000;
const SPARE_DELAY_MS = 500;
/** Number of checks without a beat. Counts checks rather than time, because none run while the whole machine is suspended. */
const MAX_MISSED_BEATS = 5;
const MAX_MISSED_BEATS_AT_START = 60;
const SOUND_LIFE_MS = 10_000;
const MAX_PAUSE_MS = 5000;

/** Starts threads that load their code before there is anything to serve. */
export function loadUdpThreads(count: number, answerer: string): Worker[] {
  return Array.from({ length: count }, () => {
    const worker = startUdpThread(answerer);
    worker.on('error', () => {}); // reported when a replacement is started
    return worker;
  });
}

function startUdpThread(answerer: string): Worker {
  const start: UdpThreadStart = { answerer };
  return startThread('udp', new URL('./udp-thread.ts', import.meta.url), start);
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
    const { sockets, xdp } = options;
    const takeWorker = () => this.#takeWorker();
    const queues = [...sockets.ofThread.map(() => undefined), ...(xdp?.queues ?? [])];
    this.#seats = queues.map((queue, i) => new UdpSeat(i, options, queue, takeWorker));
    this.#watch = setInterval(() => {
      for (const seat of this.#seats) seat.look();
    }, options.watchIntervalMs ?? WATCH_INTERVAL_MS).unref();
  }

  /** Resolves when all threads answer. Rejects, and leaves none, if one cannot be started. */
  static async start(options: UdpThreadsOptions): Promise<UdpThreads> {
    const threads = new UdpThreads(options);
    try {
      await Promise.all(threads.#seats.map((seat) => seat.firstServing));
    } catch (error) {
      await threads.close();
      throw error;
    }
    threads.#isStarted = true;
    // Threads for the queues of interfaces at which XDP is not possible. One of them becomes the spare.
    for (const worker of options.loading?.splice(1) ?? []) void worker.terminate();
    threads.#startSpareSoon();
    return threads;
  }

  /** Returns the worker that currently answers on the sockets of `thread`. */
  worker(thread: number): Worker | undefined {
    return this.#seats[thread]?.worker;
  }

  /** True if a thread that ends can be replaced without delay. */
  get hasSpare(): boolean {
    return this.#spare !== undefined && this.#isSpareLoaded;
  }

  async close(): Promise<void> {
    await this.#end(STOP.NOW);
  }

  /** Closes without losing a packet while another process reads from the sockets too. */
  async release(): Promise<void> {
    await this.#end(STOP.AFTER_REPLY, this.#options.slowPath);
  }

  async #end(stop: number, slowPath?: SlowPath): Promise<void> {
    clearInterval(this.#watch);
    clearTimeout(this.#spareTimer);
    if (stop === STOP.NOW) this.#options.xdp?.detach(); // the threads answer what has already been received
    const ended = this.#seats.map((seat) => seat.end(stop));
    if (stop === STOP.NOW) this.#options.sockets.wake();
    this.#spare?.postMessage({ kind: 'end' } satisfies ToUdpThread);
    if (this.#spare !== undefined) ended.push(untilThreadEnds(this.#spare));
    await Promise.all(ended);
    await slowPath?.settled();
    this.#options.sockets.close();
    this.#options.xdp?.close();
  }

  #startWorker(): Worker {
    const { loading, answerer } = this.#options;
    const loaded = loading?.pop();
    return loaded !== undefined && isRunning(loaded) ? loaded : startUdpThread(answerer);
  }

  /** Starts the spare with a delay: threads that serve have priority. */
  #startSpareSoon(): void {
    clearTimeout(this.#spareTimer);
    this.#spareTimer = setTimeout(() => this.#startSpare(), SPARE_DELAY_MS).unref();
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
      if (this.#spare === spare) this.#options.log.warn({ err: error }, 'the spare UDP thread has ended');
    });
    spare.on('exit', () => {
      if (this.#spare === spare) this.#spare = undefined; // the next replacement is then started on demand
    });
    spare.unref();
  }

  /** Returns the spare, or a new thread. */
  #takeWorker(): Worker {
    const spare = this.#spare;
    if (this.#isStarted) this.#startSpareSoon();
    if (spare === undefined) return this.#startWorker();
    this.#spare = undefined;
    spare.ref();
    return spare;
  }
}

/**
 * The resources of one UDP thread: its sockets, its reader slot, its counters. A thread that ends is replaced, and one
 * whose loop stalls is killed. If it is stuck in native code and cannot be killed, the whole process ends.
 */
class UdpSeat {
  /** Rejects if the first worker ends before it has served. */
  readonly firstServing: Promise<void>;
  worker: Worker | undefined;
  readonly #number: number;
  readonly #options: UdpThreadsOptions;
  readonly #takeWorker: () => Worker;
  readonly #control = new Int32Array(new SharedArrayBuffer(CONTROL_BYTES));
  readonly #parts: UdpThreadParts;
  #settleFirst: { done: () => void; fail: (error: unknown) => void } | undefined;
  #isServing = false;
  #isEnding = false;
  #startedAtMs = 0;
  #shortLives = 0;
  #pause: NodeJS.Timeout | undefined;
  #lastBeats = 0;
  #missedBeats = 0;

  /** @param queue undefined if the thread serves sockets */
  constructor(
    number: number,
    options: UdpThreadsOptions,
    queue: XdpQueue | undefined,
    takeWorker: () => Worker,
  ) {
    this.#number = number;
    this.#options = options;
    this.#takeWorker = takeWorker;
    this.#parts = {
      ...options.parts(number),
      sockets: options.sockets.ofThread[queue === undefined ? number : 0] ?? [],
      queue,
      control: this.#control.buffer as SharedArrayBuffer,
      slowPath: options.slowPath?.limit.memory,
      sampling: options.observer?.sampling,
    };
    this.firstServing = new Promise((done, fail) => {
      this.#settleFirst = { done, fail };
    });
    this.#fill();
  }

  #fill(): void {
    const worker = this.#takeWorker();
    this.worker = worker;
    this.#isServing = false;
    this.#missedBeats = 0;
    this.#startedAtMs = performance.now();
    let fault: unknown;
    worker.on('message', (message: FromUdpThread) => this.#hear(message));
    worker.on('error', (error) => {
      fault = error;
    });
    worker.on('exit', () => this.#replace(fault));
    worker.postMessage({ kind: 'serve', parts: this.#parts } satisfies ToUdpThread);
  }

  #hear(message: FromUdpThread): void {
    if (message.kind === 'failure') this.#options.reportFailure(message.error);
    if (message.kind === 'slow') this.#askSlow(message.packet);
    if (message.kind === 'samples') this.#options.observer?.post(message.samples);
    if (message.kind !== 'serving') return;
    this.#isServing = true;
    this.#missedBeats = 0;
    this.#settleFirst?.done();
    this.#settleFirst = undefined;
  }

  #askSlow(packet: SlowPacket): void {
    const { slowPath, sockets } = this.#options;
    slowPath?.ask(
      { octets: packet.octets, transport: 0, address: addressOf(packet) },
      {
        takeAnswer(_, octets) {
          if (octets !== undefined && !sockets.sendAnswer(packet, octets)) slowPath.limit.drop('unanswered');
        },
        loseAnswer() {},
      },
    );
  }

  #replace(fault: unknown): void {
    this.worker = undefined;
    clearSlot(new Image(this.#parts.image), this.#parts.slot);
    if (this.#isEnding) return;
    if (this.#settleFirst !== undefined) {
      this.#settleFirst.fail(fault ?? new Error('a UDP thread ended during its start'));
      this.#settleFirst = undefined;
      return;
    }
    const lifeMs = performance.now() - this.#startedAtMs;
    this.#shortLives = lifeMs < SOUND_LIFE_MS ? this.#shortLives + 1 : 0;
    const pauseMs = this.#shortLives < 2 ? 0 : Math.min(MAX_PAUSE_MS, 100 * 2 ** (this.#shortLives - 2));
    const facts = { thread: this.#number, pauseMs, ...(fault === undefined ? {} : { err: fault }) };
    this.#options.log.error(facts, 'a UDP thread ended: replacing it');
    if (pauseMs === 0) this.#fill();
    else this.#pause = setTimeout(() => this.#fill(), pauseMs);
  }

  look(): void {
    if (this.worker === undefined) return;
    const beats = this.#control[CONTROL.BEATS] as number;
    this.#missedBeats = beats === this.#lastBeats ? this.#missedBeats + 1 : 0;
    this.#lastBeats = beats;
    const limit = this.#isServing ? MAX_MISSED_BEATS : MAX_MISSED_BEATS_AT_START;
    if (this.#missedBeats === limit) this.#endStuck(this.worker);
  }

  #endStuck(worker: Worker): void {
    this.#options.log.error({ thread: this.#number }, 'a UDP thread is stuck: ending it');
    void worker.terminate();
    setTimeout(() => {
      if (this.worker !== worker) return;
      this.#options.log.error({ thread: this.#number }, 'a UDP thread cannot be ended: ending the process');
      process.kill(process.pid, 'SIGKILL'); // `process.exit` would wait for the thread
    }, END_TIMEOUT_MS);
  }

  async end(stop: number): Promise<void> {
    this.#isEnding = true;
    clearTimeout(this.#pause);
    if (this.worker === undefined) return;
    Atomics.store(this.#control, CONTROL.STOP, stop);
    await untilThreadEnds(this.worker);
  }
}
