// Logs an outage of the database once per minute for each kind, with the number of calls that failed, so that many failing calls
// do not cause many lines.

import { OUTAGES, type OutageKind } from '../../store/postgres/outage.ts';

interface OutageLine {
  warn(
    told: { readonly err: unknown; readonly outage: OutageKind; readonly calls: number },
    words: string,
  ): void;
}

const LINE_MS = 60_000;
/** How long a lack counts as present after the last call that failed by it: no other event tells when it is over. */
const RECENT_MS = 10_000;
/** Outages that reads do not notice: a check of the schema succeeds. */
const OF_WRITES: readonly OutageKind[] = ['no_disk_space', 'no_resources'];

interface Untold {
  notedAtMs: number;
  toldAtMs: number;
  calls: number;
  error: unknown;
}

export class OutageLog {
  readonly #log: OutageLine;
  readonly #nowMs: () => number;
  readonly #kinds = new Map<OutageKind, Untold>();

  constructor(log: OutageLine, nowMs: () => number = () => performance.now()) {
    this.#log = log;
    this.#nowMs = nowMs;
  }

  /** Records that one call failed by the outage. */
  note(kind: OutageKind, error: unknown): void {
    const untold = this.#kinds.get(kind) ?? {
      notedAtMs: 0,
      toldAtMs: Number.NEGATIVE_INFINITY,
      calls: 0,
      error,
    };
    this.#kinds.set(kind, untold);
    untold.calls++;
    untold.notedAtMs = this.#nowMs();
    untold.error = error;
    this.#tellWhenDue(kind, untold);
  }

  /** Call it now and then: no later call logs the last calls of an outage. */
  tick(): void {
    for (const [kind, untold] of this.#kinds) this.#tellWhenDue(kind, untold);
  }

  /** The outage that writes have now, while reads succeed. */
  lacking(): OutageKind | undefined {
    return OF_WRITES.find((kind) => {
      const noted = this.#kinds.get(kind);
      return noted !== undefined && this.#nowMs() - noted.notedAtMs < RECENT_MS;
    });
  }

  #tellWhenDue(kind: OutageKind, untold: Untold): void {
    if (untold.calls === 0 || this.#nowMs() - untold.toldAtMs < LINE_MS) return;
    this.#log.warn({ err: untold.error, outage: kind, calls: untold.calls }, OUTAGES[kind].words);
    untold.toldAtMs = this.#nowMs();
    untold.calls = 0;
  }
}
