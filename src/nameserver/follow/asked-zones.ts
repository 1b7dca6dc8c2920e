// Chooses which unproven zones with queries this node reports next. A client that queries ever new names must not delay
// the reports of others: zones without recent reports go first, in random order, and all memory is bounded.

/** Maximum number of reports in a window, and of repeated ones among them. */
const MOST_REPORTED = 100;
const MOST_REPEATED = 50;
const WINDOW_MS = 10_000;
/** Minimum time between two reports of a zone. */
const REPEAT_MS = 30_000;
/** After this time without a report, a zone counts as new again. */
const QUIET_MS = 300_000;
/** A report that waited this long is dropped. If clients keep querying the zone, it is queued again. */
const KEPT_MS = 60_000;
const MOST_WAITING = 2000;
const MOST_REMEMBERED = 10_000;

export class AskedZones {
  /** Number of reports made, and of waiting zones that were dropped. */
  reported = 0;
  dropped = 0;
  /** Start of the wait by zone, oldest first. */
  readonly #waiting = new Map<number, number>();
  /** Time of the last report by zone, oldest first. */
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

  /** Returns true if `take` would return a zone. */
  hasNext(now: number): boolean {
    this.#open(now);
    if (this.#inWindow >= MOST_REPORTED) return false;
    for (const id of this.#waiting.keys()) if (this.#mayBeReported(id, now)) return true;
    return false;
  }

  /** Returns the zones to report now. */
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
      if (before !== undefined && this.#repeatedInWindow >= MOST_REPEATED) break; // all later ones are repeated too
      this.#inWindow++;
      if (before !== undefined) this.#repeatedInWindow++;
      this.#waiting.delete(id);
      this.#reportedAt.delete(id); // moves it to the end
      this.#reportedAt.set(id, now);
      chosen.push(id);
    }
    this.reported += chosen.length;
    return chosen;
  }

  /** Queues zones again that the store had no space for. */
  putBack(zoneIds: Iterable<number>, now: number): void {
    for (const id of zoneIds) {
      this.reported--;
      this.#reportedAt.delete(id);
      this.note([id], now);
    }
  }

  /** Counts reports that failed. */
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
      if (now - since < KEPT_MS) break; // sorted by arrival
      this.#drop(id);
    }
  }

  #drop(id: number | undefined): void {
    if (id !== undefined && this.#waiting.delete(id)) this.dropped++;
  }
}
