// Runs refreshes in a thread, whose memory is limited, so that large transfers neither delay nor end the other jobs of the
// process. If the thread dies, its refreshes fail, and the next one starts another thread.

import type { Worker } from 'node:worker_threads';
import { startThread, untilThreadEnds } from '../../process/start-thread.ts';
import type { KeySecret } from '../../store/secrets/key-boxes.ts';
import type { RefreshOutcome } from './job-refresh.ts';

export interface RefreshThreadSettings {
  readonly databaseUrl: string;
  readonly tsigSecrets: readonly KeySecret[];
  readonly resolverAllow: readonly string[];
  readonly transferSource: string | undefined;
  readonly secondaryMaxRecords: number;
}

export type ToRefreshThread =
  | { readonly kind: 'refresh'; readonly call: number; readonly secondaryId: number }
  | { readonly kind: 'abort'; readonly call: number }
  | { readonly kind: 'end' };

export type FromRefreshThread =
  | { readonly kind: 'done'; readonly call: number; readonly outcome: RefreshOutcome }
  | {
      readonly kind: 'failed';
      readonly call: number;
      readonly message: string;
      readonly stack?: string | undefined;
    };

interface Call {
  readonly resolve: (outcome: RefreshOutcome) => void;
  readonly reject: (error: Error) => void;
}

const ENTRY = new URL('./refresh-thread.ts', import.meta.url);
/** Memory of the thread itself, and per record of the transfers in progress. */
const THREAD_MIB = 200;
const RECORDS_PER_MIB = 2000;

export class RefreshLane {
  readonly #settings: RefreshThreadSettings;
  readonly #calls = new Map<number, Call>();
  #worker: Worker | undefined;
  #last = 0;

  constructor(settings: RefreshThreadSettings) {
    this.#settings = settings;
  }

  /** Rejects if the refresh or its thread fails, and with the signal's reason when that aborts. */
  async refresh(secondaryId: number, signal: AbortSignal): Promise<RefreshOutcome> {
    signal.throwIfAborted();
    this.#worker ??= this.#start();
    const worker = this.#worker;
    const call = ++this.#last;
    const onAbort = () => {
      post(worker, { kind: 'abort', call });
      this.#calls.get(call)?.reject(signal.reason);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      return await new Promise((resolve, reject) => {
        this.#calls.set(call, { resolve, reject });
        post(worker, { kind: 'refresh', call, secondaryId });
      });
    } finally {
      this.#calls.delete(call);
      signal.removeEventListener('abort', onAbort);
    }
  }

  async stop(): Promise<void> {
    if (this.#worker === undefined) return;
    const ended = untilThreadEnds(this.#worker);
    post(this.#worker, { kind: 'end' });
    await ended;
  }

  #start(): Worker {
    const { secondaryMaxRecords } = this.#settings;
    const worker = startThread('refresh', ENTRY, this.#settings, [], {
      maxOldGenerationSizeMb: Math.ceil(THREAD_MIB + secondaryMaxRecords / RECORDS_PER_MIB),
    });
    let why = 'the refresh thread ended';
    worker.on('message', (message: FromRefreshThread) => this.#receive(message));
    worker.once('error', (error) => {
      why = `the refresh thread failed: ${error.message}`;
    });
    worker.once('exit', () => {
      if (this.#worker === worker) this.#worker = undefined;
      for (const { reject } of [...this.#calls.values()]) reject(new Error(why));
    });
    return worker;
  }

  #receive(message: FromRefreshThread): void {
    const call = this.#calls.get(message.call);
    if (message.kind === 'done') call?.resolve(message.outcome);
    else call?.reject(Object.assign(new Error(message.message), { stack: message.stack ?? message.message }));
  }
}

function post(worker: Worker, message: ToRefreshThread): void {
  worker.postMessage(message);
}
