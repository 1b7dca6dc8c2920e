// Controls a signing thread from the main thread: runs large plans one after the other, and starts and ends the thread
// on demand. If the thread dies (out of memory, crash), its job fails and the next job gets a new thread.

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

/** The thread failed. Results that it had not yet sent are lost. */
export class SigningThreadError extends Error {
  override readonly name = 'SigningThreadError';
}

interface LaneOptions {
  /** Maximum number of waiting jobs. Further jobs are rejected. */
  readonly waiting: number;
  /** Limits of the thread. It needs about three KiB per name of a zone. */
  readonly limits: ResourceLimits;
}

/** The source of a job's records. */
export interface JobRecords {
  /** The records that the job starts with. */
  readonly given: AsyncIterable<readonly ZoneRecord[]> | Iterable<readonly ZoneRecord[]>;
  read(needed: Needed): AsyncIterable<readonly ZoneRecord[]>;
}

export class SigningLane {
  readonly #options: LaneOptions;
  #last: Promise<void> = Promise.resolve();
  #jobs = 0;
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(options: LaneOptions) {
    this.#options = options;
  }

  /**
   * Yields the rows to write in pieces, in the order of the plan. Rejects with the signal's reason if that aborts. Ends
   * the thread if the consumer stops early.
   */
  async *run(job: SigningJob, records: JobRecords, signal?: AbortSignal): AsyncGenerator<OwnerRows[]> {
    signal?.throwIfAborted();
    if (this.#jobs > this.#options.waiting)
      throw new SigningThreadError('too many large zones wait to be signed: try again later');
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
    const heard = new ThreadMessages(worker, this.#options.limits, signal);
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
    worker.on('error', () => {}); // callers have their own listeners
    worker.once('exit', () => {
      if (this.#worker === worker) this.#worker = undefined;
    });
    return worker;
  }

  /** Keeps an idle thread for a while. It does not keep the process alive. */
  #keep(worker: Worker): void {
    worker.unref();
    this.#idle = setTimeout(() => void this.#end(worker), IDLE_MS).unref();
  }

  async #end(worker: Worker): Promise<void> {
    if (this.#worker === worker) this.#worker = undefined;
    await worker.terminate();
  }
}

/** Receives a thread's messages in order, until it dies or the signal aborts. */
class ThreadMessages {
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
          : new SigningThreadError(`the signing thread failed: ${error.message}`, { cause: error }),
      );
    const onExit = (code: number) =>
      fail(new SigningThreadError(`the signing thread exited early (${code})`));
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

/** Sends messages of limited size, and yields to the main thread's other work between them. */
async function send(worker: Worker, parts: JobRecords['given'], heard: ThreadMessages): Promise<void> {
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
  const error = new SigningThreadError(`the signing thread failed: ${message}`);
  if (stack !== undefined) error.stack = `${error.name}: ${error.message}\n${stack}`;
  return error;
}
