// Copies some answers and their queries for dnstap and the query log. Each answering thread has its own sampler, which
// collects samples in a buffer and posts it. If the observing thread is too slow, samples are lost: answers never wait.

import type { PacketAnswerer } from '../answer/answer-query.ts';
import type { QueryCounters } from '../answer/query-counters.ts';
import { SAMPLE_OCTETS, type Sample, writeSample } from './sample-record.ts';

/** Everything that a thread needs to create its sampler. */
export interface SamplerParts {
  /** One in this many answers is sampled. */
  readonly interval: number;
  /** Memory of one Int32: the octets that were posted and not processed yet, of all threads. */
  readonly pending: SharedArrayBuffer;
}

/** Samples posted by a thread, as `writeSample` writes them. */
export interface Samples {
  readonly octets: Uint8Array<ArrayBuffer>;
  readonly count: number;
}

const BUFFER_OCTETS = 1 << 16;
/** Samples are posted after this time at the latest, unless the thread sleeps. */
const POST_AFTER_MS = 250;
/** A thread takes at most 2,000 samples and 2.5 MiB per second, spread over windows of this length. */
const WINDOW_MS = 100;
const WINDOW_SAMPLES = 200;
const WINDOW_OCTETS = 1 << 18;
const MAX_PENDING_OCTETS = 4 << 20;

export class Sampler {
  /** Number of answers to skip before the next sample. */
  left: number;
  readonly #interval: number;
  readonly #pending: Int32Array;
  readonly #counters: Pick<QueryCounters, 'samplesLimited' | 'samplesLost'>;
  readonly #post: (samples: Samples) => void;
  readonly #random: () => number;
  readonly #buffer = new Uint8Array(BUFFER_OCTETS);
  readonly #view = new DataView(this.#buffer.buffer);
  #filled = 0;
  #count = 0;
  #firstAtMs = 0;
  #windowAtMs = 0;
  #windowSamples = 0;
  #windowOctets = 0;
  /** The difference between the clock and `performance.now`. */
  #clockOffsetMs = 0;

  /** @param post transfers the samples to the observing thread */
  constructor(
    { interval, pending }: SamplerParts,
    counters: Pick<QueryCounters, 'samplesLimited' | 'samplesLost'>,
    post: (samples: Samples) => void,
    random: () => number = Math.random,
  ) {
    this.#interval = interval;
    this.#pending = new Int32Array(pending);
    this.#counters = counters;
    this.#post = post;
    this.#random = random;
    this.left = this.drawSkip();
  }

  /** Returns a number of answers to skip. Random, because a fixed interval would prefer some clients of periodic traffic. */
  drawSkip(): number {
    return Math.floor(this.#random() * (2 * this.#interval - 1));
  }

  /** Counts one answer. Returns true if it must be passed to `add`. */
  isDue(nowMs: number): boolean {
    if (this.left > 0) {
      this.left--;
      return false;
    }
    this.left = this.drawSkip();
    return this.admit(nowMs);
  }

  /** Returns false, and counts a sample as lost, if the thread has taken too many at the time `nowMs`. */
  admit(nowMs: number): boolean {
    if (nowMs - this.#windowAtMs >= WINDOW_MS || nowMs < this.#windowAtMs) {
      this.#windowAtMs = nowMs;
      this.#windowSamples = WINDOW_SAMPLES;
      this.#windowOctets = WINDOW_OCTETS;
    }
    if (this.#windowSamples > 0 && this.#windowOctets > 0) return true;
    this.#counters.samplesLimited++;
    return false;
  }

  /** Copies an answer that `answerer` has just made. `isDue` or `admit` must have returned true. */
  add(answerer: PacketAnswerer, sample: Sample): void {
    const octets = SAMPLE_OCTETS + sample.queryOctets + sample.answerOctets;
    this.#windowSamples--;
    this.#windowOctets -= octets;
    if (octets > BUFFER_OCTETS) {
      this.#counters.samplesLimited++;
      return;
    }
    if (this.#filled + octets > BUFFER_OCTETS) this.flush();
    if (this.#count === 0) {
      this.#firstAtMs = answerer.nowMs;
      this.onFirst();
    }
    const endedAtMs = performance.now();
    const offsetMs = this.#readClock(endedAtMs);
    writeSample(this.#buffer, this.#view, this.#filled, sample, answerer, endedAtMs, offsetMs);
    this.#filled += octets;
    this.#count++;
  }

  /** Posts the samples if the first one has waited for long enough. */
  flushOld(nowMs: number): void {
    if (this.#count > 0 && Math.abs(nowMs - this.#firstAtMs) >= POST_AFTER_MS) this.flush();
  }

  /** Posts the samples, unless too many have been posted and not processed yet. */
  flush(): void {
    const count = this.#count;
    const octets = this.#filled;
    if (count === 0) return;
    this.#count = 0;
    this.#filled = 0;
    if (Atomics.load(this.#pending, 0) + octets > MAX_PENDING_OCTETS) {
      this.#counters.samplesLost += count;
      return;
    }
    Atomics.add(this.#pending, 0, octets);
    this.#post({ octets: this.#buffer.slice(0, octets), count });
  }

  /** Called when a sample waits to be posted. */
  protected onFirst(): void {}

  /** Two clocks are needed: Date.now has no fractions, and performance.now does not follow corrections of the time. */
  #readClock(endedAtMs: number): number {
    const offsetMs = Date.now() - endedAtMs;
    if (Math.abs(offsetMs - this.#clockOffsetMs) > 2) this.#clockOffsetMs = offsetMs;
    return this.#clockOffsetMs;
  }
}

/** A sampler for threads with an event loop, which posts samples in time. The others call `flushOld` and `flush`. */
export class TimedSampler extends Sampler {
  protected override onFirst(): void {
    setTimeout(() => this.flush(), POST_AFTER_MS).unref();
  }
}
