// The main thread's side of the observing thread: starts it, restarts it if it ends, and passes samples to it.

import type { Worker } from 'node:worker_threads';
import { createBackoff, type Log } from '../../process/reconnect.ts';
import { startThread, untilThreadEnds } from '../../process/start-thread.ts';
import type { QueryCounters } from '../answer/query-counters.ts';
import {
  type FromObserveThread,
  OBSERVED,
  type Observed,
  type ObserveOptions,
  type ToObserveThread,
} from './messages.ts';
import { type Sampler, type SamplerParts, type Samples, TimedSampler } from './sampler.ts';

export interface Observer {
  readonly sampling: SamplerParts;
  /** Creates the sampler of this thread. */
  createSampler(counters: QueryCounters): Sampler;
  /** Takes the samples of a thread. */
  post(samples: Samples): void;
  /** Opens the query log again, for example because it was renamed. */
  reopen(): void;
  /** Starts the observing thread. Until then, samples are lost. */
  start(): void;
  stop(): Promise<void>;
  /** Returns the numbers of the observing thread. */
  observed(): Observed;
}

interface ObserverOptions extends Omit<ObserveOptions, 'pending' | 'observed'> {
  /** One in this many answers is sampled. */
  readonly interval: number;
  /** Counts samples that are lost in this thread. */
  readonly counters: Pick<QueryCounters, 'samplesLost'>;
  readonly log: Log;
}

const ENTRY = new URL('./observe-thread.ts', import.meta.url);
/** A thread that has run for this long is restarted without a longer pause. */
const SOUND_LIFE_MS = 60_000;

export function createObserver({ interval, counters, log, ...options }: ObserverOptions): Observer {
  const pending = new Int32Array(new SharedArrayBuffer(4));
  const observed = new Float64Array(new SharedArrayBuffer(8 * Object.keys(OBSERVED).length));
  const sampling = { interval, pending: pending.buffer as SharedArrayBuffer };
  const backoff = createBackoff();
  /** Octets posted to the threads, except those that a thread had not processed when it ended. */
  let posted = 0;
  let thread: Worker | undefined;
  let isStopping = false;
  let restart: NodeJS.Timeout | undefined;
  const send = (message: ToObserveThread) => thread?.postMessage(message);

  const post = (samples: Samples) => {
    const { octets, count } = samples;
    if (thread !== undefined) {
      posted += octets.length;
      thread.postMessage({ kind: 'samples', samples } satisfies ToObserveThread, [octets.buffer]);
      return;
    }
    Atomics.sub(pending, 0, octets.length);
    counters.samplesLost += count;
  };
  const start = () => {
    const startedAtMs = performance.now();
    let fault: unknown;
    const memory = { pending: sampling.pending, observed: observed.buffer as SharedArrayBuffer };
    const given: ObserveOptions = { ...options, ...memory };
    const started = startThread('observe', ENTRY, given);
    thread = started;
    started.on('message', (message: FromObserveThread) => {
      if (message.kind === 'log') log[message.level](message.fields, message.message);
    });
    started.on('error', (error) => {
      fault = error;
    });
    started.on('exit', () => {
      thread = undefined;
      const unprocessed = posted - (observed[OBSERVED.octets] as number);
      Atomics.sub(pending, 0, unprocessed);
      posted -= unprocessed;
      if (isStopping) return;
      if (performance.now() - startedAtMs > SOUND_LIFE_MS) backoff.reset();
      const pauseMs = backoff.nextMs();
      const why = fault === undefined ? {} : { err: fault };
      log.error({ pauseMs, ...why }, 'the thread for DNSTAP and QUERY_LOG ended: restarting it');
      restart = setTimeout(start, pauseMs);
    });
  };
  return {
    sampling,
    createSampler: (counted) => new TimedSampler(sampling, counted, post),
    post,
    reopen: () => send({ kind: 'reopen' }),
    start,
    async stop() {
      isStopping = true;
      clearTimeout(restart);
      if (thread === undefined) return;
      send({ kind: 'stop' });
      await untilThreadEnds(thread);
    },
    observed: () =>
      Object.fromEntries(Object.entries(OBSERVED).map(([name, at]) => [name, observed[at]])) as Observed,
  };
}
