// Tells an outage of the database once a minute and kind, with how many calls the line stands for: a flood of failing
// calls is no flood of lines.

import { OUTAGES, type OutageKind } from '../store/outage.ts';

export interface OutageLine {
  warn(
    told: { readonly err: unknown; readonly outage: OutageKind; readonly calls: number },
    words: string,
  ): void;
}

const LINE_MS = 60_000;
/** How long a lack is taken to last after the last call that met it: nothing else tells when it is over. */
const RECENT_MS = 10_000;
/** What reads do not meet: a look at the schema finds nothing wrong. */
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

  /** One call failed by it. */
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

  /** To be called now and then: the last calls of an outage have no call behind them. */
  tick(): void {
    for (const [kind, untold] of this.#kinds) this.#tellWhenDue(kind, untold);
  }

  /** What writes lack now, while reads go on. */
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
