// How a name comes to be checked because it is asked for: a node's choice of what to report, and the workers' plan, both by
// the real rules, in virtual time.

import { AskedZones } from '../../../../src/nameserver/follow/asked-zones.ts';
import type { Random } from '../../random/random-zones.ts';
import type { Decisions } from './simulated-store.ts';

/**
 * Strangers ask for the names that they claim all the time: for this one alone, or for so many that their account has used up
 * what it may have of checks that are made again.
 */
export type AskedByStrangers = 'never' | 'alone' | 'among many';

const NAME = 1;
/** How many other names strangers ask for without end, where they do. */
const OTHERS = 300;
/** A node takes marks, and workers take reports and look what is due. */
const NODE_MS = 250;
const WORKERS_MS = 500;
const AGAIN_MS = 30_000;
const EACH_MS = 300_000;

export class SimulatedReports {
  readonly #asked: AskedByStrangers;
  readonly #plan: Decisions['planAsked'];
  readonly #random: Random;
  readonly #node: AskedZones;
  #checkedAt: number | undefined;
  #dueAt = Number.POSITIVE_INFINITY;

  constructor(asked: AskedByStrangers, plan: Decisions['planAsked'], random: Random) {
    this.#asked = asked;
    this.#plan = plan;
    this.#random = random;
    this.#node = new AskedZones(random);
  }

  /** Somebody asks from `now` on: when the workers look at what was reported. */
  begin(now: number): number {
    if (this.#asked !== 'never') {
      // At any moment of what had been going on.
      const reportedAt = now - AGAIN_MS * this.#random();
      this.#node.note([NAME], reportedAt);
      this.#node.take(reportedAt);
      this.#checkedAt = now - this.#random() * (this.#asked === 'alone' ? AGAIN_MS : EACH_MS);
    }
    return this.askAt(now);
  }

  /** The same for questions that go on. */
  askAt(now: number): number {
    const others = Array.from({ length: OTHERS }, (_, i) => NAME + 1 + i);
    for (let at = now + this.#random() * NODE_MS; ; at += NODE_MS) {
      this.#node.note([NAME], at);
      if (this.#asked !== 'never') this.#node.note(others, at);
      if (this.#node.take(at).includes(NAME)) return at + this.#random() * WORKERS_MS;
    }
  }

  /** A report is looked at: when the check is due. */
  plan(now: number): number {
    const again = this.#asked === 'among many' ? EACH_MS : 0;
    const { at } = this.#plan({ checkedAt: this.#checkedAt, again }, now);
    this.#dueAt = Math.min(this.#dueAt, at);
    return this.#dueAt;
  }

  /** Whether a check is due, which begins then. */
  takeDue(now: number): boolean {
    if (this.#dueAt > now) return false;
    this.#dueAt = Number.POSITIVE_INFINITY;
    this.#checkedAt = now;
    return true;
  }
}
