// Collects what the answering threads count, for the reports of this node: unproven zones with queries, and answers by zone.

import { CountedMinutes } from '../counts/counted-minutes.ts';
import { AskedZones } from './asked-zones.ts';
import type { FollowOptions } from './follow-options.ts';
import type { FollowState } from './follow-state.ts';

/** Interval for reading the marks of unproven zones (128 KiB). */
const ASKED_MS = 250;
/** Interval for checking whether a thread's table of counts is nearly full. */
const COUNTED_MS = 250;
/** One of this many checks takes all counts, which reads half a MiB per thread. */
const CHECKS_PER_TAKE = 8;

type CountsOptions = Pick<FollowOptions, 'writer' | 'asked' | 'zoneCounts' | 'onState'> & {
  /** Called when there is something to report. */
  readonly onCounted: () => void;
};

export class NodeCounts {
  readonly asked = new AskedZones();
  readonly counted = new CountedMinutes(Date.now());
  readonly #options: CountsOptions;
  #askedTimer: NodeJS.Timeout | undefined;
  #countedTimer: NodeJS.Timeout | undefined;
  #checks = 0;

  constructor(options: CountsOptions) {
    this.#options = options;
  }

  start(): void {
    this.#askedTimer = setInterval(() => this.#takeAsked(), ASKED_MS).unref();
    this.#countedTimer = setInterval(() => this.#checkCounts(), COUNTED_MS).unref();
  }

  /** Takes all counts, so that the last report includes them. */
  stop(): void {
    clearInterval(this.#askedTimer);
    clearInterval(this.#countedTimer);
    this.#takeCounts();
    this.counted.close();
  }

  state(): Pick<FollowState, 'asked' | 'counted'> {
    const { asked, counted } = this;
    return {
      asked: { reported: asked.reported, dropped: asked.dropped },
      counted: { reported: counted.reported, other: counted.other, dropped: counted.dropped },
    };
  }

  #takeAsked(): void {
    const { asked, writer, onCounted, onState } = this.#options;
    const now = Date.now();
    const { dropped } = this.asked;
    for (const apexHash of asked?.take() ?? []) this.asked.note(writer.unprovenIds(apexHash), now);
    if (this.asked.hasNext(now)) onCounted();
    if (this.asked.dropped !== dropped) onState?.();
  }

  #checkCounts(): void {
    this.#checks = (this.#checks + 1) % CHECKS_PER_TAKE;
    if (this.#checks === 0 || this.counted.isOver(Date.now())) this.#takeCounts();
    else for (const counts of this.#options.zoneCounts ?? []) counts.takeEarly(this.counted);
  }

  #takeCounts(): void {
    for (const counts of this.#options.zoneCounts ?? []) counts.take(this.counted);
    this.counted.turn(Date.now());
    if (this.counted.hasNext) this.#options.onCounted();
  }
}
