// Handles large calls in threads. Threads start when needed and end when idle. Calls wait in a queue for a thread. If
// a thread ends during a call (out of memory, a crash, a timeout), only that call fails, with a problem.

import type { ResourceLimits, Worker } from 'node:worker_threads';
import type { FastifyBaseLogger } from 'fastify';
import { boundSignal } from '../../process/bound-signal.ts';
import { startThread } from '../../process/start-thread.ts';
import { badRequest, MAY_BE_DONE, type Problem, unavailable } from '../answers/problem.ts';
import { BodyRoom } from '../body/body-room.ts';
import {
  type FromThread,
  type LargeAnswer,
  type LargeCall,
  ThreadError,
  type ThreadSettings,
  type ToThread,
} from './large-call.ts';
import { type PlacesSize, WorkPlaces } from './work-places.ts';

const MIB = 1024 * 1024;
const RETRY_SECONDS = 5;

interface LargeWorkOptions extends PlacesSize {
  readonly roomBytes: number;
  readonly roomBytesOfOne: number;
  /** A call that waits longer is refused. */
  readonly waitMs: number;
  /** Maximum time for handling a call. After that, the call fails, and its thread is terminated. */
  readonly workMs: number;
  /** Number of threads that stay without work, because starting one takes half a second. */
  readonly standby: number;
  /** Any other thread ends after this time without work. */
  readonly idleMs: number;
  /** The limits of each thread. */
  readonly limits: ResourceLimits;
}

const DEFAULTS: LargeWorkOptions = {
  places: 2,
  waiting: 32,
  waitingOfOne: 2,
  roomBytes: 256 * MIB,
  roomBytesOfOne: 64 * MIB,
  waitMs: 60_000,
  workMs: 120_000,
  standby: 1,
  idleMs: 30_000,
  // A call keeps most of its objects until its end. With a small young generation, they would be copied many times.
  limits: { maxOldGenerationSizeMb: 768, maxYoungGenerationSizeMb: 96 },
};

/** Runs the work after earlier writes of the same domain. */
type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

export class LargeWork {
  /** The memory for bodies that arrive or wait. */
  readonly room: BodyRoom;
  readonly #settings: ThreadSettings;
  readonly #options: LargeWorkOptions;
  readonly #places: WorkPlaces;
  readonly #threads = new Set<WorkThread>();
  /** The idle threads and the timers that end them. Undefined if a thread stays. */
  readonly #idle = new Map<WorkThread, NodeJS.Timeout | undefined>();

  constructor(settings: ThreadSettings, options: Partial<LargeWorkOptions> = {}) {
    this.#settings = settings;
    this.#options = { ...DEFAULTS, ...options };
    const { roomBytes, roomBytesOfOne } = this.#options;
    this.#places = new WorkPlaces(this.#options);
    this.room = new BodyRoom({ bytes: roomBytes, bytesOfOne: roomBytesOfOne });
  }

  get state(): { readonly threads: number; readonly working: number; readonly waiting: number } {
    return { threads: this.#threads.size, working: this.#places.working, waiting: this.#places.waiting };
  }

  /** Rejects with the error of the handler. */
  async answer(order: LargeOrder, inTurn: InTurn): Promise<LargeAnswer | Problem> {
    const { admitted } = order.call;
    const entered = await this.#places.enter({
      accountId: admitted.caller.account.id,
      domainId: admitted.domain?.id,
      gone: boundSignal(order.gone, this.#options.waitMs),
    });
    if (entered.kind === 'full')
      return unavailable('too many large requests are waiting; try again', RETRY_SECONDS);
    if (entered.kind === 'gone') return unavailable('the request waited too long; try again', RETRY_SECONDS);
    try {
      return await inTurn(() => this.#work(order));
    } finally {
      entered.leave();
    }
  }

  /** Starts the standby threads. */
  prepare(): void {
    while (this.#threads.size < this.#options.standby) this.#keepThread(this.#startThread());
  }

  async close(): Promise<void> {
    await Promise.all([...this.#threads].map((thread) => thread.terminate()));
  }

  async #work(order: LargeOrder): Promise<LargeAnswer | Problem> {
    const thread = this.#takeThread();
    try {
      return await thread.answer(order, this.#options.workMs);
    } finally {
      if (!thread.hasEnded) this.#keepThread(thread);
    }
  }

  #takeThread(): WorkThread {
    const [idle] = this.#idle.keys();
    if (idle !== undefined) {
      clearTimeout(this.#idle.get(idle));
      this.#idle.delete(idle);
      return idle;
    }
    return this.#startThread();
  }

  #startThread(): WorkThread {
    const thread = new WorkThread(this.#settings, this.#options.limits);
    this.#threads.add(thread);
    void thread.ended.then(() => {
      clearTimeout(this.#idle.get(thread));
      this.#idle.delete(thread);
      this.#threads.delete(thread);
    });
    return thread;
  }

  #keepThread(thread: WorkThread): void {
    const staying = [...this.#idle.values()].filter((end) => end === undefined).length;
    if (staying < this.#options.standby) {
      this.#idle.set(thread, undefined);
      return;
    }
    const end = setTimeout(() => {
      this.#idle.delete(thread);
      thread.end();
    }, this.#options.idleMs);
    this.#idle.set(thread, end.unref());
  }
}

const ENTRY = new URL('./large-thread.ts', import.meta.url);

interface LargeOrder {
  readonly call: LargeCall;
  readonly gone: AbortSignal;
  readonly log: FastifyBaseLogger;
}

interface Current {
  readonly log: FastifyBaseLogger;
  readonly resolve: (answer: LargeAnswer | Problem) => void;
  readonly reject: (error: Error) => void;
}

class WorkThread {
  /** Resolves when the thread has ended, for any reason. */
  readonly ended: Promise<void>;
  readonly #worker: Worker;
  #current: Current | undefined;
  #isOutOfMemory = false;
  #hasEnded = false;

  constructor(settings: ThreadSettings, limits: ResourceLimits) {
    this.#worker = startThread('large-work', ENTRY, settings, [], limits);
    this.#worker.unref(); // an idle thread must not keep the process alive
    this.#worker.on('message', (message: FromThread) => this.#receive(message));
    this.#worker.on('error', (error: NodeJS.ErrnoException) => {
      this.#isOutOfMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      this.#current?.log.warn({ err: error }, 'a thread for large requests failed');
    });
    this.ended = new Promise((resolve) => {
      this.#worker.once('exit', () => {
        this.#hasEnded = true;
        this.#current?.resolve(
          this.#isOutOfMemory
            ? badRequest(`the request takes too much memory: send it in parts; ${MAY_BE_DONE}`)
            : unavailable(`the request was interrupted; ${MAY_BE_DONE}`, RETRY_SECONDS),
        );
        resolve();
      });
    });
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Rejects with the error of the handler. After `workMs`, the call fails, and the thread is terminated. */
  async answer({ call, gone, log }: LargeOrder, workMs: number): Promise<LargeAnswer | Problem> {
    const onGone = () => this.#say({ kind: 'gone', reason: String(gone.reason) });
    this.#worker.ref();
    const deadline = setTimeout(() => {
      log.warn({ operation: call.operationId }, 'a large request took too long and was aborted');
      void this.terminate();
    }, workMs);
    try {
      return await new Promise((resolve, reject) => {
        this.#current = { log, resolve, reject };
        this.#say(
          { kind: 'call', call },
          call.segments.map(({ buffer }) => buffer),
        );
        gone.addEventListener('abort', onGone, { once: true });
        if (gone.aborted) onGone();
      });
    } finally {
      this.#current = undefined;
      clearTimeout(deadline);
      gone.removeEventListener('abort', onGone);
      this.#worker.unref();
    }
  }

  /** Ends the thread after it has closed its connections. */
  end(): void {
    this.#say({ kind: 'end' });
  }

  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }

  #say(message: ToThread, transfer: ArrayBuffer[] = []): void {
    this.#worker.postMessage(message, transfer);
  }

  #receive(message: FromThread): void {
    if (message.kind === 'answer') this.#current?.resolve(message.answer);
    else if (message.kind === 'failed') this.#current?.reject(new ThreadError(message.error));
    else this.#current?.log[message.level](message.what, message.message);
  }
}
