// Services of the cache routes: the cache registry, and the open purges, which are read once for the streams of all
// edges of this process.

import { Counter } from 'prom-client';
import { ServiceKey, type Services } from '../../api/calls/call.ts';
import { Waiting } from '../../api/edge/waiting.ts';
import { pauseUnless, warnOncePerMinute } from '../../process/reconnect.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { ServiceTools } from '../feature.ts';
import { loadOpenPurges, type OpenPurge } from './sql-purges.ts';
import { CacheRegistry } from './sql-registry.ts';

export const CACHE_REGISTRY = new ServiceKey<CacheRegistry>('cache registry');
export const PURGE_FEED = new ServiceKey<PurgeFeed>('purge feed');
/** Counts reported entries by outcome. */
export const COUNT_ENTRIES = new ServiceKey<(counts: Readonly<Record<string, number>>) => void>(
  'count entries',
);

export function openCacheServices(tools: ServiceTools, services: Services): void {
  const { db, databaseUrl, settings, registry, edgeFeed, log, onStop } = tools;
  const warn = warnOncePerMinute(log);
  const cacheRegistry = new CacheRegistry({
    url: settings.cacheRegistryUrl ?? databaseUrl,
    isElsewhere: settings.cacheRegistryUrl !== undefined,
    onError: (error) => warn(error, 'a call of the cache registry failed'),
  });
  onStop(() => cacheRegistry.close());
  void cacheRegistry.begin(); // not awaited: it may be unavailable
  const purges = new PurgeFeed({
    db,
    changed: (timeoutMs, signal) => edgeFeed.changed(timeoutMs, signal),
    onTrouble: (error) => edgeFeed.noteTrouble(error),
  });
  onStop(() => purges.close());
  const entries = new Counter({
    name: 'zonefleet_cache_entries_total',
    help: 'Cache entries that edges reported: stored, evicted, ignored, or dropped because a domain had too many.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  services.add(CACHE_REGISTRY, cacheRegistry);
  services.add(PURGE_FEED, purges);
  services.add(COUNT_ENTRIES, (counts) => {
    for (const [outcome, count] of Object.entries(counts)) if (count > 0) entries.inc({ outcome }, count);
  });
}

interface PurgeFeedOptions {
  readonly db: Database;
  /** Waits until something may have changed in the database, or until the timeout. */
  readonly changed: (timeoutMs: number, signal: AbortSignal) => Promise<void>;
  readonly onTrouble: (error: unknown) => void;
}

/** A purge whose notification was lost is found after this time. */
const POLL_MS = 1000;
/** Changes of zones cause notifications too, and there may be many. */
const LEAST_PAUSE_MS = 50;

export class PurgeFeed {
  readonly #options: PurgeFeedOptions;
  /** Number of streams of each edge in this process. */
  readonly #streams = new Map<number, number>();
  readonly #waiting = new Waiting();
  readonly #closing = new AbortController();
  #open: ReadonlyMap<number, readonly OpenPurge[]> = new Map();
  #running: Promise<void> | undefined;
  #joined = new AbortController();

  constructor(options: PurgeFeedOptions) {
    this.#options = options;
  }

  /** Adds a stream of the edge. Returns a function that removes it. */
  join(edgeId: number): () => void {
    this.#streams.set(edgeId, (this.#streams.get(edgeId) ?? 0) + 1);
    this.#joined.abort(); // read immediately
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

  /** Returns the purges that were read last, oldest first. */
  openOf(edgeId: number): readonly OpenPurge[] {
    return this.#open.get(edgeId) ?? [];
  }

  /** Waits until the purges are read again, or until the timeout. */
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
      if (this.#streams.size > 0) this.#start(); // a stream joined while the last one left
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
        if (!closing.aborted) onTrouble(error); // edges receive the purges when the database is available again
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
