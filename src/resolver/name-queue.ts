// The names that a scan has yet to ask for: what records speak of comes before the list, the list before what is below and
// beside the names that it found, and last what zones of its kind have. Each name is asked for once; of more than a scan can ask for none is kept.

import type { Name } from '../dns/name.ts';

export type Lane = 'learned' | 'listed' | 'derived' | 'hinted';

export interface QueuedName {
  readonly name: Name;
  /** Sought with every type, even where a wildcard seems to answer for it. */
  readonly isSure: boolean;
}

const LANES: readonly Lane[] = ['learned', 'listed', 'derived', 'hinted'];
/** All names together, as each lane finds them: those that are asked for last leave room for the others. */
const MOST: Readonly<Record<Lane, number>> = { learned: 8000, listed: 8000, derived: 6000, hinted: 5000 };

export class NameQueue {
  readonly #lanes: Readonly<Record<Lane, QueuedName[]>> = {
    learned: [],
    listed: [],
    derived: [],
    hinted: [],
  };
  readonly #taken: Record<Lane, number> = { learned: 0, listed: 0, derived: 0, hinted: 0 };
  readonly #known = new Set<Name>();
  #isOverfull = false;

  /** All that there ever were. */
  get size(): number {
    return this.#known.size;
  }

  /** There were more than it takes. */
  get isOverfull(): boolean {
    return this.#isOverfull;
  }

  add(lane: Lane, name: Name, isSure: boolean): void {
    if (this.#known.has(name)) return;
    if (this.#known.size >= MOST[lane]) {
      this.#isOverfull = true;
      return;
    }
    this.#known.add(name);
    this.#lanes[lane].push({ name, isSure });
  }

  next(): QueuedName | undefined {
    for (const lane of LANES) {
      const next = this.#lanes[lane][this.#taken[lane]];
      if (next === undefined) continue;
      this.#taken[lane]++;
      return next;
    }
    return undefined;
  }
}
