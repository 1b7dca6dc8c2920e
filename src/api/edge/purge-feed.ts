// What edges still have to purge, read once for all streams of this process. Without streams nothing is read.

import { pauseUnless } from '../../process/reconnect.ts';
import type { Database } from '../../store/postgres/database.ts';
import { loadOpenPurges, type OpenPurge } from '../../store/purges/open-purges.ts';
import { Waiting } from './waiting.ts';

interface PurgeFeedOptions {
  readonly db: Database;
  /** Until something may have changed in Postgres, or the time is over. */
  readonly changed: (timeoutMs: number, signal: AbortSignal) => Promise<void>;
  readonly onTrouble: (error: unknown) => void;
}

/** A purge whose announcement was lost is found after this time. */
const POLL_MS = 1000;
/** Changes of zones are announced too, and there may be many. */
const LEAST_PAUSE_MS = 50;

export class PurgeFeed {
  readonly #options: PurgeFeedOptions;
  /** How many streams each edge has here. */
  readonly #streams = new Map<number, number>();
  readonly #waiting = new Waiting();
  readonly #closing = new AbortController();
  #open: ReadonlyMap<number, readonly OpenPurge[]> = new Map();
  #running: Promise<void> | undefined;
  #joined = new AbortController();

  constructor(options: PurgeFeedOptions) {
    this.#options = options;
  }

  /** Gives what ends it. */
  join(edgeId: number): () => void {
    this.#streams.set(edgeId, (this.#streams.get(edgeId) ?? 0) + 1);
    this.#joined.abort(); // read at once
    this.#start();
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      const left = (this.#streams.get(edgeId) ?? 1) - 1;
      if (left === 0) this.#streams.delete(edgeId);
      else this.#streams.set(edgeId, left);
    };
  }

  /** As they were when they were read last; the oldest first. */
  openOf(edgeId: number): readonly OpenPurge[] {
    return this.#open.get(edgeId) ?? [];
  }

  /** Until they have been read again, or the time is over. */
  async read(timeoutMs: number, signal: AbortSignal): Promise<void> {
    await this.#waiting.wait(timeoutMs, signal);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#joined.abort();
    await this.#running;
  }

  #start(): void {
    if (this.#running !== undefined || this.#closing.signal.aborted) return;
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
      if (this.#streams.size > 0) this.#start(); // one came while the last one left
    });
  }

  async #run(): Promise<void> {
    const { db, changed, onTrouble } = this.#options;
    const closing = this.#closing.signal;
    while (this.#streams.size > 0 && !closing.aborted) {
      this.#joined = new AbortController();
      try {
        this.#open = byEdge(await loadOpenPurges(db, [...this.#streams.keys()]));
        this.#waiting.tell();
      } catch (error) {
        if (!closing.aborted) onTrouble(error); // edges purge it when Postgres is back
      }
      await changed(POLL_MS, this.#joined.signal);
      await pauseUnless(closing, LEAST_PAUSE_MS);
    }
    this.#open = new Map();
  }
}

function byEdge(purges: readonly OpenPurge[]): Map<number, OpenPurge[]> {
  const found = new Map<number, OpenPurge[]>();
  for (const purge of purges) {
    const others = found.get(purge.edgeId);
    if (others === undefined) found.set(purge.edgeId, [purge]);
    else others.push(purge);
  }
  return found;
}
