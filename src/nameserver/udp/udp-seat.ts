// The place of one UDP thread: its sockets, its reader slot, its counters. The thread is replaced when it ends, and
// killed when its loop stalls. If it is stuck in native code and cannot be killed, the whole process ends, and its
// supervisor starts it anew.

import type { Worker } from 'node:worker_threads';
import type { Log } from '../../process/reconnect.ts';
import { clearSlot, Image } from '../../zone/image/image.ts';
import type { UdpAnswererParts } from './udp-answerer.ts';
import type { UdpSockets } from './udp-sockets.ts';
import {
  CONTROL,
  CONTROL_OCTETS,
  type FromUdpThread,
  type ToUdpThread,
  type UdpThreadParts,
} from './udp-thread-control.ts';

export interface UdpSeatOptions {
  readonly sockets: Pick<UdpSockets, 'ofThread'>;
  readonly parts: (thread: number) => UdpAnswererParts;
  readonly log: Log;
  /** Receives errors that queries caused, from each thread at most once a second. */
  readonly reportFailure: (error: unknown) => void;
}

/**
 * How many looks may find no beat. Looks are counted, not time: when the whole machine stands still, no look happens
 * either.
 */
const MAX_MISSED_BEATS = 5;
const MAX_MISSED_BEATS_AT_START = 60;
const END_TIMEOUT_MS = 2000;
const SOUND_LIFE_MS = 10_000;
const MAX_PAUSE_MS = 5000;

export class UdpSeat {
  /** Rejects when the first worker ends before it has served. */
  readonly firstServing: Promise<void>;
  worker: Worker | undefined;
  readonly #number: number;
  readonly #options: UdpSeatOptions;
  readonly #takeWorker: () => Worker;
  readonly #control = new Int32Array(new SharedArrayBuffer(CONTROL_OCTETS));
  readonly #parts: UdpThreadParts;
  #settleFirst: { done: () => void; fail: (error: unknown) => void } | undefined;
  #isServing = false;
  #isEnding = false;
  #startedAtMs = 0;
  #shortLives = 0;
  #pause: NodeJS.Timeout | undefined;
  #lastBeats = 0;
  #missedBeats = 0;

  constructor(number: number, options: UdpSeatOptions, takeWorker: () => Worker) {
    this.#number = number;
    this.#options = options;
    this.#takeWorker = takeWorker;
    this.#parts = {
      ...options.parts(number),
      sockets: options.sockets.ofThread[number] ?? [],
      control: this.#control.buffer as SharedArrayBuffer,
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
    switch (message.kind) {
      case 'loaded':
        return;
      case 'serving':
        this.#isServing = true;
        this.#missedBeats = 0;
        this.#settleFirst?.done();
        this.#settleFirst = undefined;
        return;
      case 'failure':
        this.#options.reportFailure(message.error);
        return;
      default:
        message satisfies never;
    }
  }

  #replace(fault: unknown): void {
    this.worker = undefined;
    clearSlot(new Image(this.#parts.image), this.#parts.slot);
    if (this.#isEnding) return;
    if (this.#settleFirst !== undefined) {
      this.#settleFirst.fail(fault ?? new Error('a UDP thread ended at its start'));
      this.#settleFirst = undefined;
      return;
    }
    const lifeMs = performance.now() - this.#startedAtMs;
    this.#shortLives = lifeMs < SOUND_LIFE_MS ? this.#shortLives + 1 : 0;
    const pauseMs = this.#shortLives < 2 ? 0 : Math.min(MAX_PAUSE_MS, 100 * 2 ** (this.#shortLives - 2));
    const told = { thread: this.#number, pauseMs, ...(fault === undefined ? {} : { err: fault }) };
    this.#options.log.error(told, 'a UDP thread ended: it is replaced');
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
    this.#options.log.error({ thread: this.#number }, 'a UDP thread is stuck: it is ended');
    void worker.terminate();
    setTimeout(() => {
      if (this.worker !== worker) return;
      this.#options.log.error({ thread: this.#number }, 'a UDP thread cannot be ended: the process ends');
      process.kill(process.pid, 'SIGKILL'); // `process.exit` would wait for the thread
    }, END_TIMEOUT_MS);
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    clearTimeout(this.#pause);
    const { worker } = this;
    if (worker === undefined) return;
    Atomics.store(this.#control, CONTROL.STOP, 1);
    await untilEnded(worker);
  }
}

/**
 * Resolves when the thread is gone, or could not be ended. The thread is first asked to end: if it were terminated
 * while it loads, the files that it reads would stay open.
 */
export async function untilEnded(worker: Worker): Promise<void> {
  const timers: NodeJS.Timeout[] = [];
  await new Promise<void>((done) => {
    worker.once('exit', () => done());
    timers.push(setTimeout(() => void worker.terminate(), END_TIMEOUT_MS / 2));
    timers.push(setTimeout(done, END_TIMEOUT_MS));
  });
  timers.forEach(clearTimeout);
}
