// Holds removals that may be an accident until an operator confirms them. If the removals of the last 60 s would delete more
// than half of the zones, and at least 100, these and all later ones are held (docs/rules.md "Health and held removals"). A
// zone that reappears is no longer held or counted. Removals admitted before the limit was reached remain in effect.

import { randomUUID } from 'node:crypto';
import type { Name } from '../../dns/name.ts';

const WINDOW_MS = 60_000;
const AT_LEAST = 100;

export class RemovalHold {
  readonly #nowMs: () => number;
  readonly #held = new Set<Name>();
  /** Zones removed within the window that have not reappeared, oldest first. */
  readonly #recent = new Map<Name, number>();
  #id = '';
  #since = new Date(0);

  constructor(nowMs: () => number = Date.now) {
    this.#nowMs = nowMs;
  }

  /** Returns those of `apexes` that may be removed now, and holds the others. `served` includes held zones. */
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

  /** Stops holding and counting a zone that exists again. */
  dissolve(apex: Name): void {
    this.#held.delete(apex);
    this.#recent.delete(apex);
  }

  /** Returns all held zones if `id` is the current hold. They may be removed now, and are no longer counted. */
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
