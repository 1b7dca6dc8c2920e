// Counts the nodes that have loaded the newest change of each followed domain, with one query for all domains. The
// interval follows how often the result can change. Once all nodes have a change, it is no longer queried.

import type { InSync } from '../../store/feed/in-sync.ts';
import type { DomainWatch } from './domain-watch.ts';

interface Tracked {
  readonly changeId: number;
  /** Time of the change, by the clock of this process. */
  readonly madeMs: number;
  /** True if the change was still in transit at the first query. */
  wasOpen: boolean;
}

/** Nodes report their position at most every 50 ms. */
const INTERVALS: readonly (readonly [youngerMs: number, intervalMs: number])[] = [
  [2000, 40],
  [15_000, 250],
  [60_000, 2000],
];
const OLD_INTERVAL_MS = 5000;
const RETRY_MS = 1000;
/** If all nodes have a change at the first query, it counts as just completed if it is younger than this. */
const NEW_MS = 1000;

export class SyncStates {
  readonly #query: (changeIds: readonly number[]) => Promise<Map<number, InSync>>;
  readonly #tracked = new Map<DomainWatch, Tracked>();
  #running = false;

  constructor(query: (changeIds: readonly number[]) => Promise<Map<number, InSync>>) {
    this.#query = query;
  }

  /** Number of domains with a change that not all nodes have loaded. */
  get open(): number {
    return this.#tracked.size;
  }

  track(watch: DomainWatch, changeId: number, ageMs: number): void {
    this.#tracked.set(watch, {
      changeId,
      madeMs: performance.now() - ageMs,
      wasOpen: ageMs < NEW_MS,
    });
    if (!this.#running) void this.#run();
  }

  drop(watch: DomainWatch): void {
    this.#tracked.delete(watch);
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#tracked.size > 0) {
      const queried = [...this.#tracked];
      const states = await this.#query(queried.map(([, { changeId }]) => changeId)).catch(() => undefined);
      if (states !== undefined) for (const [watch, tracked] of queried) this.#settle(watch, tracked, states);
      if (this.#tracked.size > 0) await pause(states === undefined ? RETRY_MS : this.#intervalMs());
    }
    this.#running = false;
  }

  #settle(watch: DomainWatch, tracked: Tracked, states: ReadonlyMap<number, InSync>): void {
    if (this.#tracked.get(watch) !== tracked) return; // a newer change arrived meanwhile
    const state = states.get(tracked.changeId);
    if (state === undefined || state.inSync) this.#tracked.delete(watch);
    if (state === undefined) return;
    const { changeId, madeMs, wasOpen } = tracked;
    tracked.wasOpen ||= !state.inSync;
    const before = watch.nodes;
    const isSame =
      before?.changeId === changeId &&
      before.inSync === state.inSync &&
      before.nodes.seen === state.nodes.seen &&
      before.nodes.live === state.nodes.live;
    if (isSame) return;
    const ms = wasOpen ? Math.max(0, Math.round(performance.now() - madeMs)) : undefined;
    watch.noteNodes({ ...state, changeId, ms });
  }

  #intervalMs(): number {
    const nowMs = performance.now();
    const ages = [...this.#tracked.values()].map(({ madeMs }) => nowMs - madeMs);
    const youngest = Math.min(...ages);
    return INTERVALS.find(([youngerMs]) => youngest < youngerMs)?.[1] ?? OLD_INTERVAL_MS;
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
