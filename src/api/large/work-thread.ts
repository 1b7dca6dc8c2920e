// One thread for large calls, as the main thread sees it. If it ends during a call (no memory left, a crash, too much
// time), that call gets a problem.

import type { ResourceLimits, Worker } from 'node:worker_threads';
import type { FastifyBaseLogger } from 'fastify';
import { startThread } from '../../process/start-thread.ts';
import { badRequest, MAY_BE_DONE, type Problem, unavailable } from '../answers/problem.ts';
import {
  type FromThread,
  type LargeAnswer,
  type LargeCall,
  ThreadError,
  type ThreadSettings,
  type ToThread,
} from './large-call.ts';

const ENTRY = new URL('./large-thread.ts', import.meta.url);
const RETRY_SECONDS = 5;

export interface LargeOrder {
  readonly call: LargeCall;
  readonly gone: AbortSignal;
  readonly log: FastifyBaseLogger;
}

interface Current {
  readonly log: FastifyBaseLogger;
  readonly resolve: (answer: LargeAnswer | Problem) => void;
  readonly reject: (error: Error) => void;
}

export class WorkThread {
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

  /**
   * Answers one call at a time. Rejects with the error that the handler throws. After `workMs` the call is given up,
   * and the thread is ended.
   */
  async answer({ call, gone, log }: LargeOrder, workMs: number): Promise<LargeAnswer | Problem> {
    const onGone = () => this.#say({ kind: 'gone', reason: String(gone.reason) });
    this.#worker.ref();
    const deadline = setTimeout(() => {
      log.warn({ operation: call.operationId }, 'a large request took too long and is given up');
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
