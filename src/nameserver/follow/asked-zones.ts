// Which of the unproven zones that are asked for this node reports next. Who asks for names of its own without end must not hide
// another: names that were quiet go first, in no order that anybody can choose, and all that is remembered is bounded.

/** Reports in a window, and how many of them may be repeated ones. */
const MOST_REPORTED = 100;
const MOST_REPEATED = 50;
const WINDOW_MS = 10_000;
/** A zone that is asked for again is reported again after this time. */
const REPEAT_MS = 30_000;
/** A zone that was not reported for this time was quiet. */
const QUIET_MS = 300_000;
/** A question that could not be reported for so long is dropped: clients that go on asking bring another. */
const KEPT_MS = 60_000;
const MOST_WAITING = 2000;
const MOST_REMEMBERED = 10_000;

export class AskedZones {
  /** How many reports were made, and how many zones were dropped that waited for one. */
  reported = 0;
  dropped = 0;
  /** By zone: since when it waits; the oldest first. */
  readonly #waiting = new Map<number, number>();
  /** By zone: when it was last reported, the oldest first. */
  readonly #reportedAt = new Map<number, number>();
  readonly #random: () => number;
  #windowSince = Number.NEGATIVE_INFINITY;
  #inWindow = 0;
  #repeatedInWindow = 0;

  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  note(zoneIds: Iterable<number>, now: number): void {
    for (const id of zoneIds) {
      if (this.#waiting.has(id)) continue;
      if (this.#waiting.size >= MOST_WAITING) this.#drop(this.#waiting.keys().next().value);
      this.#waiting.set(id, now);
    }
  }

  /** Whether `take` would give any. */
  hasNext(now: number): boolean {
    this.#open(now);
    if (this.#inWindow >= MOST_REPORTED) return false;
    for (const id of this.#waiting.keys()) if (this.#mayBeReported(id, now)) return true;
    return false;
  }

  /** The zones to report now. */
  take(now: number): number[] {
    this.#forget(now);
    this.#open(now);
    const ready = [...this.#waiting.keys()]
      .filter((id) => this.#mayBeReported(id, now))
      .map((id) => ({ id, before: this.#reportedAt.get(id), dice: this.#random() }))
      .sort((a, b) => (a.before ?? 0) - (b.before ?? 0) || a.dice - b.dice);
    const chosen: number[] = [];
    for (const { id, before } of ready) {
      if (this.#inWindow >= MOST_REPORTED) break;
      if (before !== undefined && this.#repeatedInWindow >= MOST_REPEATED) break; // so are all behind it
      this.#inWindow++;
      if (before !== undefined) this.#repeatedInWindow++;
      this.#waiting.delete(id);
      this.#reportedAt.delete(id); // so that it stands last
      this.#reportedAt.set(id, now);
      chosen.push(id);
    }
    this.reported += chosen.length;
    return chosen;
  }

  /** There was no room for these: they wait again. */
  putBack(zoneIds: Iterable<number>, now: number): void {
    for (const id of zoneIds) {
      this.reported--;
      this.#reportedAt.delete(id);
      this.note([id], now);
    }
  }

  /** These could not be reported. */
  lose(count: number): void {
    this.reported -= count;
    this.dropped += count;
  }

  #open(now: number): void {
    if (now - this.#windowSince < WINDOW_MS) return;
    this.#windowSince = now;
    this.#inWindow = 0;
    this.#repeatedInWindow = 0;
  }

  #mayBeReported(id: number, now: number): boolean {
    const before = this.#reportedAt.get(id);
    return before === undefined || (now - before >= REPEAT_MS && this.#repeatedInWindow < MOST_REPEATED);
  }

  #forget(now: number): void {
    for (const [id, at] of this.#reportedAt) {
      if (now - at < QUIET_MS && this.#reportedAt.size <= MOST_REMEMBERED) break;
      this.#reportedAt.delete(id);
    }
    for (const [id, since] of this.#waiting) {
      if (now - since < KEPT_MS) break; // they stand in the order in which they came
      this.#drop(id);
    }
  }

  #drop(id: number | undefined): void {
    if (id !== undefined && this.#waiting.delete(id)) this.dropped++;
  }
}
