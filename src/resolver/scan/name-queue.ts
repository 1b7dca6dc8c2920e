// The names that a scan has yet to ask for. Names that records mention come before the word list, the list before names
// below and beside those that exist, and last come names that zones of the same kind have. Each name is asked for once,
// and no more names are kept than a scan can ask for.

import type { Name } from '../../dns/name.ts';

export type Lane = 'learned' | 'listed' | 'derived' | 'hinted';

export interface QueuedName {
  readonly name: Name;
  /** Ask for every type, even where a wildcard seems to answer for the name. */
  readonly isSure: boolean;
}

const LANES: readonly Lane[] = ['learned', 'listed', 'derived', 'hinted'];
/**
 * How many names each lane takes, with all lanes that come before it: lanes that are asked last leave room for the
 * others.
 */
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

  /** How many names were ever added. */
  get size(): number {
    return this.#known.size;
  }

  /** More names came than the queue takes. */
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
