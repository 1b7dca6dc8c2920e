// Measures the latency of batches of answers, and sets the answerer's time. Reading the clock three times takes as long as
// answering two queries, so one batch represents those after it.

import { performance } from 'node:perf_hooks';
import type { PacketAnswerer } from '../answer/answer-query.ts';
import type { Sampler } from './sampler.ts';

interface LatencyCounters {
  observeLatency(seconds: number, answers: number): void;
}

/** The clocks are read once per this many batches, and whenever a wait ends without a query. */
const TIMED_BATCHES = 16;
const UNTIMED = -1;

export class BatchTimes {
  readonly #answerer: PacketAnswerer;
  readonly #counters: LatencyCounters;
  readonly #sampler: Sampler | undefined;
  #untimedBatches = 0;
  /** Answers whose latency has not been counted yet. */
  #uncounted = 0;
  #lastLatencySeconds = 0;
  #startedAtMs = UNTIMED;

  /** @param sampler undefined if no answers are sampled */
  constructor(answerer: PacketAnswerer, counters: LatencyCounters, sampler: Sampler | undefined) {
    this.#answerer = answerer;
    this.#counters = counters;
    this.#sampler = sampler;
  }

  /** Call it before each batch. */
  begin(): void {
    if (this.#untimedBatches > 0) {
      this.#untimedBatches--;
      this.#startedAtMs = UNTIMED;
      return;
    }
    this.#untimedBatches = TIMED_BATCHES - 1;
    this.#answerer.nowMs = Date.now();
    this.#sampler?.flushOld(this.#answerer.nowMs);
    this.#startedAtMs = performance.now();
  }

  /** Call it after each batch. */
  end(answers: number): void {
    this.#uncounted += answers;
    if (this.#startedAtMs === UNTIMED) return;
    this.#lastLatencySeconds = (performance.now() - this.#startedAtMs) / 1000;
    this.#count();
  }

  /** Call it if no query arrived: counts the remaining latencies, and makes the next batch read the clocks. */
  rest(): void {
    this.#untimedBatches = 0;
    this.#sampler?.flush();
    this.#count();
  }

  #count(): void {
    if (this.#uncounted > 0) this.#counters.observeLatency(this.#lastLatencySeconds, this.#uncounted);
    this.#uncounted = 0;
  }
}
