// Which of the unproven zones that are asked for this node reports next. Who asks for names of its own without end must not hide
// another: names that were quiet go first, in no order that anybody can choose, and all that is remembered is bounded.

/** Reports in a window. */
const MOST_REPORTED = 100;
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
  /** By zone: since when it waits. */
  readonly #waiting = new Map<number, number>();
  /** By zone: when it was last reported, the oldest first. */
  readonly #reportedAt = new Map<number, number>();
  readonly #random: () => number;
  #windowSince = Number.NEGATIVE_INFINITY;
  #inWindow = 0;

  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  note(zoneIds: Iterable<number>, now: number): void {
    for (const id of zoneIds) {
      if (this.#waiting.has(id)) continue;
      if (this.#waiting.size >= MOST_WAITING) this.#dropOne();
      this.#waiting.set(id, now);
    }
  }

  /** Whether `take` would give any. */
  hasNext(now: number): boolean {
    if (this.#roomAt(now) === 0) return false;
    for (const id of this.#waiting.keys()) if (this.#mayBeReported(id, now)) return true;
    return false;
  }

  /** The zones to report now. */
  take(now: number): number[] {
    this.#forget(now);
    const chosen = [...this.#waiting.keys()]
      .filter((id) => this.#mayBeReported(id, now))
      .map((id) => ({
        id,
        before: this.#reportedAt.get(id) ?? Number.NEGATIVE_INFINITY,
        dice: this.#random(),
      }))
      .sort((a, b) => (a.before === b.before ? a.dice - b.dice : a.before - b.before))
      .slice(0, this.#roomAt(now))
      .map(({ id }) => id);
    if (now - this.#windowSince >= WINDOW_MS) {
      this.#windowSince = now;
      this.#inWindow = 0;
    }
    this.#inWindow += chosen.length;
    this.reported += chosen.length;
    for (const id of chosen) {
      this.#waiting.delete(id);
      this.#reportedAt.delete(id); // so that it stands last
      this.#reportedAt.set(id, now);
    }
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

  #roomAt(now: number): number {
    return now - this.#windowSince >= WINDOW_MS ? MOST_REPORTED : MOST_REPORTED - this.#inWindow;
  }

  #mayBeReported(id: number, now: number): boolean {
    const before = this.#reportedAt.get(id);
    return before === undefined || now - before >= REPEAT_MS;
  }

  #forget(now: number): void {
    for (const [id, at] of this.#reportedAt) {
      if (now - at < QUIET_MS && this.#reportedAt.size <= MOST_REMEMBERED) break;
      this.#reportedAt.delete(id);
    }
    for (const [id, since] of this.#waiting) {
      if (now - since < KEPT_MS) continue;
      this.#waiting.delete(id);
      this.dropped++;
    }
  }

  /** Any of them: with more names than have room, nobody can tell which one is dropped. */
  #dropOne(): void {
    let left = Math.floor(this.#random() * this.#waiting.size);
    for (const id of this.#waiting.keys()) {
      if (left-- > 0) continue;
      this.#waiting.delete(id);
      this.dropped++;
      return;
    }
  }
}
