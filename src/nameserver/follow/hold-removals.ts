// Holds removals that look like an accident until an operator confirms them: when those of the last 60 s would take
// away more than half of the zones, and at least 100, they are held, with all that follow (docs/rules.md "Health and
// held removals"). A zone that comes back is no longer held or counted. Removals let through before the limit was
// reached stay removed.

import { randomUUID } from 'node:crypto';
import type { Name } from '../../dns/name.ts';

const WINDOW_MS = 60_000;
const AT_LEAST = 100;

export class RemovalHold {
  readonly #nowMs: () => number;
  readonly #held = new Set<Name>();
  /** Zones that were removed within the window and are still gone, the oldest first. */
  readonly #recent = new Map<Name, number>();
  #id = '';
  #since = new Date(0);

  constructor(nowMs: () => number = Date.now) {
    this.#nowMs = nowMs;
  }

  /**
   * Gives those of `apexes` that may be removed now; the others are held. `served` is how many zones are served, held
   * ones included.
   */
  admit(apexes: readonly Name[], served: number): readonly Name[] {
    const asked = apexes.filter((apex) => !this.#held.has(apex));
    if (asked.length === 0) return [];
    const nowMs = this.#nowMs();
    for (const [apex, atMs] of this.#recent) {
      if (nowMs - atMs < WINDOW_MS) break;
      this.#recent.delete(apex);
    }
    const gone = this.#recent.size;
    const removals = gone + asked.length;
    if (this.#held.size === 0) {
      if (removals < AT_LEAST || removals <= (served + gone) / 2) {
        for (const apex of asked) this.#recent.set(apex, nowMs);
        return asked;
      }
      this.#id = randomUUID();
      this.#since = new Date(nowMs);
    }
    for (const apex of asked) this.#held.add(apex);
    return [];
  }

  /** The zone exists again: it is neither held nor counted. */
  dissolve(apex: Name): void {
    this.#held.delete(apex);
    this.#recent.delete(apex);
  }

  /** Gives all zones held, if this is the hold that was confirmed; they may be removed now and count no further. */
  confirm(id: string | null): readonly Name[] {
    if (this.#held.size === 0 || id !== this.#id) return [];
    const released = [...this.#held];
    this.#held.clear();
    this.#recent.clear();
    return released;
  }

  state(): { id: string; since: Date; zones: number } | undefined {
    return this.#held.size === 0 ? undefined : { id: this.#id, since: this.#since, zones: this.#held.size };
  }
}
