// Counts the nodes that have the newest change of each followed domain, with one query for all of them, as often as the result can
// have changed. Once all nodes have a change, it is no longer queried.

import type { InSync } from '../../store/feed/in-sync.ts';
import type { DomainWatch } from './domain-watch.ts';

interface Tracked {
  readonly changeId: number;
  /** When it was made, by our clock. */
  readonly madeMs: number;
  /** It was on its way when it was first looked at. */
  wasOpen: boolean;
}

/** Nodes report their position at most each 50 ms. */
const INTERVALS: readonly (readonly [youngerMs: number, intervalMs: number])[] = [
  [2000, 40],
  [15_000, 250],
  [60_000, 2000],
];
const OLD_INTERVAL_MS = 5000;
const RETRY_MS = 1000;
/** A change that is found on all nodes at once was on its way a moment ago if it is younger. */
const NEW_MS = 1000;

export class SyncStates {
  readonly #look: (changeIds: readonly number[]) => Promise<Map<number, InSync>>;
  readonly #tracked = new Map<DomainWatch, Tracked>();
  #running = false;

  constructor(look: (changeIds: readonly number[]) => Promise<Map<number, InSync>>) {
    this.#look = look;
  }

  /** How many domains have a change that is not on all nodes. */
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
      const asked = [...this.#tracked];
      const states = await this.#look(asked.map(([, { changeId }]) => changeId)).catch(() => undefined);
      if (states !== undefined) for (const [watch, tracked] of asked) this.#settle(watch, tracked, states);
      if (this.#tracked.size > 0) await pause(states === undefined ? RETRY_MS : this.#intervalMs());
    }
    this.#running = false;
  }

  #settle(watch: DomainWatch, tracked: Tracked, states: ReadonlyMap<number, InSync>): void {
    if (this.#tracked.get(watch) !== tracked) return; // a newer change came meanwhile
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
