// A thread that signs, as the main thread sees it: large plans one after the other, the thread started when it is needed and
// ended when it is not. When it dies (no memory left, a crash), the job that it had fails, and the next one gets a new thread.

import { setImmediate } from 'node:timers/promises';
import type { ResourceLimits, Worker } from 'node:worker_threads';
import { startThread } from '../../process/start-thread.ts';
import type { OwnerRows } from '../../zone/signing/plan-rows.ts';
import type { Needed } from '../../zone/signing/plan-signing.ts';
import type { ZoneRecord } from '../../zone/zone.ts';
import {
  buffersOf,
  type FromThread,
  type PackedRecords,
  packRecords,
  RECORDS_AT_ONCE,
  type SigningJob,
  type ToThread,
  unpackOwners,
} from './signing-job.ts';

const ENTRY = new URL('./signing-thread.ts', import.meta.url);
const IDLE_MS = 10_000;

/** The thread could not do it. Nothing of what it had not given yet is there. */
export class SigningThreadError extends Error {
  override readonly name = 'SigningThreadError';
}

interface LaneOptions {
  /** Jobs that may wait; another one is refused. */
  readonly waiting: number;
  /** Of the thread. A name of a zone takes about three KiB. */
  readonly limits: ResourceLimits;
}

/** Where the records of a job come from. */
export interface JobRecords {
  /** What the job begins with. */
  readonly given: AsyncIterable<readonly ZoneRecord[]> | Iterable<readonly ZoneRecord[]>;
  read(needed: Needed): AsyncIterable<readonly ZoneRecord[]>;
}

export class SigningLane {
  readonly #options: LaneOptions;
  #last: Promise<void> = Promise.resolve();
  /** Those that wait, and the one that is worked on. */
  #jobs = 0;
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(options: LaneOptions) {
    this.#options = options;
  }

  /**
   * What is to be written, piece by piece, in the order of the plan. Rejects with the signal's reason when that aborts. When
   * whoever asks does not take all pieces, the thread is ended.
   */
  async *run(job: SigningJob, records: JobRecords, signal?: AbortSignal): AsyncGenerator<OwnerRows[]> {
    signal?.throwIfAborted();
    if (this.#jobs > this.#options.waiting)
      throw new SigningThreadError('too many large zones wait for the thread that signs: try again later');
    const leave = await this.#enter();
    try {
      signal?.throwIfAborted();
      yield* this.#work(job, records, signal);
    } finally {
      leave();
    }
  }

  async #enter(): Promise<() => void> {
    this.#jobs++;
    const before = this.#last;
    let leave = () => {};
    this.#last = new Promise((resolve) => {
      leave = resolve;
    });
    await before;
    return () => {
      this.#jobs--;
      leave();
    };
  }

  async *#work(job: SigningJob, records: JobRecords, signal?: AbortSignal): AsyncGenerator<OwnerRows[]> {
    const worker = this.#take();
    const heard = new Heard(worker, this.#options.limits, signal);
    let isDone = false;
    try {
      post(worker, { kind: 'begin', job });
      await send(worker, records.given, heard);
      for (;;) {
        const message = await heard.next();
        if (message.kind === 'needed') await send(worker, records.read(message.needed), heard);
        else if (message.kind === 'failed') {
          isDone = true;
          throw failureOf(message);
        } else if (message.kind === 'done') {
          isDone = true;
          return;
        } else {
          post(worker, { kind: 'taken' });
          yield unpackOwners(message.rows);
        }
      }
    } finally {
      heard.stop();
      if (isDone) this.#keep(worker);
      else await this.#end(worker);
    }
  }

  #take(): Worker {
    clearTimeout(this.#idle);
    this.#worker ??= this.#start();
    this.#worker.ref();
    return this.#worker;
  }

  #start(): Worker {
    const worker = startThread('signing', ENTRY, {}, [], this.#options.limits);
    worker.on('error', () => {}); // whoever waits for it has a listener beside
    worker.once('exit', () => {
      if (this.#worker === worker) this.#worker = undefined;
    });
    return worker;
  }

  /** For a while; an idle thread does not keep the process alive. */
  #keep(worker: Worker): void {
    worker.unref();
    this.#idle = setTimeout(() => void this.#end(worker), IDLE_MS).unref();
  }

  async #end(worker: Worker): Promise<void> {
    if (this.#worker === worker) this.#worker = undefined;
    await worker.terminate();
  }
}

/** What a thread says, in order, until it dies or the signal aborts. */
class Heard {
  readonly #messages: FromThread[] = [];
  readonly #off: () => void;
  #fault: unknown;
  #wake: (() => void) | undefined;

  constructor(worker: Worker, { maxOldGenerationSizeMb: most }: ResourceLimits, signal?: AbortSignal) {
    const onMessage = (message: FromThread) => {
      this.#messages.push(message);
      this.#wake?.();
    };
    const fail = (fault: unknown) => {
      this.#fault ??= fault;
      this.#wake?.();
    };
    const onError = (error: NodeJS.ErrnoException) =>
      fail(
        error.code === 'ERR_WORKER_OUT_OF_MEMORY'
          ? new SigningThreadError(`the zone is too large: signing it takes more than ${most} MiB of memory`)
          : new SigningThreadError(`the thread that signs failed: ${error.message}`, { cause: error }),
      );
    const onExit = (code: number) =>
      fail(new SigningThreadError(`the thread that signs ended before its time (${code})`));
    const onAbort = () => fail(signal?.reason);
    worker.on('message', onMessage);
    worker.once('error', onError);
    worker.once('exit', onExit);
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#off = () => {
      worker.off('message', onMessage);
      worker.off('error', onError);
      worker.off('exit', onExit);
      signal?.removeEventListener('abort', onAbort);
    };
  }

  async next(): Promise<FromThread> {
    for (;;) {
      this.throwIfOver();
      const message = this.#messages.shift();
      if (message !== undefined) return message;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  throwIfOver(): void {
    if (this.#fault !== undefined) throw this.#fault;
  }

  stop(): void {
    this.#off();
  }
}

/** In messages of bounded size, between which the main thread does what else is due. */
async function send(worker: Worker, parts: JobRecords['given'], heard: Heard): Promise<void> {
  for await (const part of parts) {
    for (let at = 0; at < part.length; at += RECORDS_AT_ONCE) {
      heard.throwIfOver();
      postRecords(worker, packRecords(part.slice(at, at + RECORDS_AT_ONCE)), false);
      await setImmediate();
    }
  }
  postRecords(worker, packRecords([]), true);
}

function postRecords(worker: Worker, records: PackedRecords, isLast: boolean): void {
  post(worker, { kind: 'records', records, isLast }, buffersOf(records));
}

function post(worker: Worker, message: ToThread, transfer: ArrayBuffer[] = []): void {
  worker.postMessage(message, transfer);
}

function failureOf({ message, stack }: Extract<FromThread, { kind: 'failed' }>): Error {
  const error = new SigningThreadError(`the thread that signs failed: ${message}`);
  if (stack !== undefined) error.stack = `${error.name}: ${error.message}\n${stack}`;
  return error;
}
