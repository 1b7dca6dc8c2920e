// Logs each kind of database outage at most once per minute, with the number of failed calls, so that many failing
// calls do not cause many lines.

import { OUTAGES, type OutageKind } from '../../store/postgres/outage.ts';

interface OutageLine {
  warn(
    details: { readonly err: unknown; readonly outage: OutageKind; readonly calls: number },
    message: string,
  ): void;
}

const LINE_MS = 60_000;
/** How long a shortage is assumed to last after the last call that it failed. No event reports its end. */
const RECENT_MS = 10_000;
/** Outages that affect writes only: checking the schema succeeds. */
const WRITE_OUTAGES: readonly OutageKind[] = ['no_disk_space', 'no_resources'];

interface Unlogged {
  notedAtMs: number;
  loggedAtMs: number;
  calls: number;
  error: unknown;
}

export class OutageLog {
  readonly #log: OutageLine;
  readonly #nowMs: () => number;
  readonly #kinds = new Map<OutageKind, Unlogged>();

  constructor(log: OutageLine, nowMs: () => number = () => performance.now()) {
    this.#log = log;
    this.#nowMs = nowMs;
  }

  /** Records that a call failed because of the outage. */
  note(kind: OutageKind, error: unknown): void {
    const entry = this.#kinds.get(kind) ?? {
      notedAtMs: 0,
      loggedAtMs: Number.NEGATIVE_INFINITY,
      calls: 0,
      error,
    };
    this.#kinds.set(kind, entry);
    entry.calls++;
    entry.notedAtMs = this.#nowMs();
    entry.error = error;
    this.#logWhenDue(kind, entry);
  }

  /** Must be called regularly, because no later call logs the last failures of an outage. */
  tick(): void {
    for (const [kind, entry] of this.#kinds) this.#logWhenDue(kind, entry);
  }

  /** Returns the outage that makes writes fail now while reads succeed. */
  lacking(): OutageKind | undefined {
    return WRITE_OUTAGES.find((kind) => {
      const noted = this.#kinds.get(kind);
      return noted !== undefined && this.#nowMs() - noted.notedAtMs < RECENT_MS;
    });
  }

  #logWhenDue(kind: OutageKind, entry: Unlogged): void {
    if (entry.calls === 0 || this.#nowMs() - entry.loggedAtMs < LINE_MS) return;
    this.#log.warn({ err: entry.error, outage: kind, calls: entry.calls }, OUTAGES[kind].words);
    entry.loggedAtMs = this.#nowMs();
    entry.calls = 0;
  }
}
