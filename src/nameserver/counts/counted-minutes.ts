// Counts that the node has not reported yet, divided into parts that each become one row in Postgres. Memory is bounded:
// if Postgres is unavailable for too long, the oldest minutes are dropped, and their answers are counted as dropped.

import type { Name } from '../../dns/name.ts';
import { OTHER_TYPE } from './counted-types.ts';
import { NameTotals, type SampledName } from './name-totals.ts';
import type { CountSink } from './zone-counts.ts';
import { NO_ZONE, type Totals, ZoneTotals } from './zone-totals.ts';

const MINUTE_MS = 60_000;
/** Maximum counts in one part, as the table requires. */
const MOST_IN_PART = 4096;
/** Maximum counts in all waiting parts (about 20 MB). */
const MOST_WAITING = 1_048_576;
/** A waiting part older than this is dropped. Workers must remember the parts that they have moved for longer than this. */
const KEPT_MS = 60 * MINUTE_MS;

interface CountsPart extends Totals {
  /** Start of the minute. */
  readonly minuteMs: number;
  /** Sequence number of the part in this process. Identifies a part that is reported again. */
  readonly part: number;
  readonly names: readonly SampledName[];
}

export class CountedMinutes implements CountSink {
  /** Numbers of answers: reported, not attributed to a zone, and dropped. */
  reported = 0;
  other = 0;
  dropped = 0;
  readonly #totals: ZoneTotals;
  readonly #names = new NameTotals();
  readonly #mostWaiting: number;
  #minuteMs: number;
  #parts = 0;
  #waiting: CountsPart[] = [];
  #waitingCounts = 0;

  constructor(nowMs: number, totals = new ZoneTotals(), mostWaiting = MOST_WAITING) {
    this.#totals = totals;
    this.#mostWaiting = mostWaiting;
    this.#minuteMs = minuteOf(nowMs);
  }

  add(zoneId: number, type: number, rcode: number, count: number): void {
    this.#totals.add(zoneId, type, rcode, count);
  }

  addOther(count: number): void {
    this.#totals.add(NO_ZONE, OTHER_TYPE, 0, count);
  }

  addName(zoneId: number, name: Name): void {
    this.#names.add(zoneId, name);
  }

  /** Returns true if the minute being counted is over. */
  isOver(nowMs: number): boolean {
    return minuteOf(nowMs) !== this.#minuteMs;
  }

  /** Starts a new minute if the current one is over. Call it after adding counts, which belong to the previous minute. */
  turn(nowMs: number): void {
    if (!this.isOver(nowMs)) return;
    this.close();
    this.#minuteMs = minuteOf(nowMs);
    this.#forget(nowMs);
  }

  /** Moves the counts so far to the waiting parts. Later counts of the same minute form further parts. */
  close(): void {
    const totals = this.#totals.take();
    let names: readonly SampledName[] = this.#names.take();
    for (let from = 0; from < totals.zoneIds.length; from += MOST_IN_PART) {
      const to = from + MOST_IN_PART;
      this.#waiting.push({
        minuteMs: this.#minuteMs,
        part: this.#parts++,
        zoneIds: totals.zoneIds.slice(from, to),
        types: totals.types.slice(from, to),
        rcodes: totals.rcodes.slice(from, to),
        counts: totals.counts.slice(from, to),
        names,
      });
      names = [];
    }
    this.#waitingCounts += totals.zoneIds.length;
    for (let i = 0; i < totals.zoneIds.length; i++)
      if (totals.zoneIds[i] === NO_ZONE) this.other += totals.counts[i] as number;
    while (this.#waitingCounts > this.#mostWaiting) this.#drop();
  }

  get hasNext(): boolean {
    return this.#waiting.length > 0;
  }

  /** Returns the oldest waiting part. It stays the same, with the same number, until `done`. */
  next(nowMs: number): CountsPart | undefined {
    this.#forget(nowMs);
    return this.#waiting[0];
  }

  done(part: CountsPart): void {
    if (this.#waiting[0] !== part) return; // dropped in the meantime
    this.reported += answersOf(part);
    this.#shift();
  }

  #forget(nowMs: number): void {
    while (this.#waiting[0] !== undefined && nowMs - this.#waiting[0].minuteMs > KEPT_MS) this.#drop();
  }

  #drop(): void {
    const [oldest] = this.#waiting;
    if (oldest === undefined) return;
    this.dropped += answersOf(oldest);
    this.#shift();
  }

  #shift(): void {
    this.#waitingCounts -= this.#waiting.shift()?.zoneIds.length ?? 0;
  }
}

function minuteOf(ms: number): number {
  return Math.floor(ms / MINUTE_MS) * MINUTE_MS;
}

function answersOf({ counts }: CountsPart): number {
  return counts.reduce((sum, count) => sum + count, 0);
}
