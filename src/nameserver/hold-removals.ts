// Removals that look like an accident wait for an operator: when those of the last 60 s would take away more than half
// of the zones, and at least 100, they are held, with all that follow, until they are confirmed. A zone that comes back
// is no longer held, nor counted. What was let through before the limit was reached stays removed.

import { randomUUID } from 'node:crypto';
import type { Name } from '../dns/name.ts';

const WINDOW_MS = 60_000;
const AT_LEAST = 100;

export class RemovalHold {
  readonly #nowMs: () => number;
  readonly #held = new Set<Name>();
  /** Zones that went within the window and are still gone, the oldest first. */
  readonly #recent = new Map<Name, number>();
  #id = '';
  #since = new Date(0);

  constructor(nowMs: () => number = Date.now) {
    this.#nowMs = nowMs;
  }

  /** Those of `apexes` that may go now; the others are held. `served` is how many zones are served, held ones included. */
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

  /** The zone exists (again). */
  dissolve(apex: Name): void {
    this.#held.delete(apex);
    this.#recent.delete(apex);
  }

  /** All that is held, if this is the hold that was confirmed; it may go now and counts no further. */
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
