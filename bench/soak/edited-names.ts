// All names that the soak edits, and what each may be answered with.

import type { FleetState, SoakDomain } from './fleet-state.ts';
import { NameHistory, type Value } from './name-history.ts';

export interface EditedName {
  /** Fully qualified, without the final dot. */
  readonly name: string;
  /** Relative to the domain. */
  readonly owner: string;
  readonly domain: SoakDomain;
  readonly history: NameHistory;
}

export class EditedNames {
  readonly all: readonly EditedName[];
  readonly #state: FleetState;
  readonly #busy = new Set<SoakDomain>();

  constructor(state: FleetState) {
    this.#state = state;
    const nowMs = performance.now();
    this.all = state.domains.flatMap((domain) =>
      Object.entries(domain.values).map(([owner, value]) => ({
        name: `${owner}.${domain.label}.zz`,
        owner,
        domain,
        history: new NameHistory(value ?? undefined, nowMs),
      })),
    );
  }

  any(): EditedName {
    return this.all[Math.floor(Math.random() * this.all.length)] as EditedName;
  }

  /** Returns one to three names of a domain without an open edit, which is busy until `release`. */
  take(): EditedName[] | undefined {
    const free = this.#state.domains.filter((domain) => !this.#busy.has(domain));
    const domain = free[Math.floor(Math.random() * free.length)];
    if (domain === undefined) return undefined;
    this.#busy.add(domain);
    const names = this.all.filter((each) => each.domain === domain);
    const count = Math.min(names.length, 1 + Math.floor(Math.random() * 3));
    return Array.from(
      { length: count },
      () => names.splice(Math.floor(Math.random() * names.length), 1)[0] as EditedName,
    );
  }

  release(names: readonly EditedName[]): void {
    for (const { domain, owner, history } of names) {
      domain.values[owner] = history.stored ?? null;
      this.#busy.delete(domain);
    }
  }

  nextValue(): Value {
    return ++this.#state.counter;
  }
}
