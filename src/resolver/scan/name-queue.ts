// Queue of the names that a scan has not queried yet. Names mentioned by records come before the word list, the list before
// names below and next to existing ones, and names typical of the zone's kind come last. Each name is queried once, and the
// queue holds no more names than a scan can query.

import type { Name } from '../../dns/name.ts';

export type Lane = 'learned' | 'listed' | 'derived' | 'hinted';

export interface QueuedName {
  readonly name: Name;
  /** Query every type, even if a wildcard seems to answer for the name. */
  readonly isSure: boolean;
}

const LANES: readonly Lane[] = ['learned', 'listed', 'derived', 'hinted'];
/** Maximum number of names in each lane together with all earlier lanes. Later lanes leave room for the others. */
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

  /** Number of names ever added. */
  get size(): number {
    return this.#known.size;
  }

  /** True if more names were added than the queue takes. */
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
