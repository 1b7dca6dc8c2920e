// How queries for a name trigger a check: a node's choice of reports, and the workers' schedule, both by the real rules in
// virtual time.

import { AskedZones } from '../../../../src/nameserver/follow/asked-zones.ts';
import type { Random } from '../../random/random-zones.ts';
import type { Decisions } from './simulated-store.ts';

/**
 * Attackers query their claimed names constantly: only this one, or so many that their account has used up its share of
 * rechecks.
 */
export type AskedByStrangers = 'never' | 'alone' | 'among many';

const NAME = 1;
/** Number of other names that attackers query constantly, if they do. */
const OTHERS = 300;
/** A node collects marks, and workers read reports and due checks. */
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

  /** Queries start at `now`. Returns when the workers read the report. */
  begin(now: number): number {
    if (this.#asked !== 'never') {
      // At a random time of the continuing queries.
      const reportedAt = now - AGAIN_MS * this.#random();
      this.#node.note([NAME], reportedAt);
      this.#node.take(reportedAt);
      this.#checkedAt = now - this.#random() * (this.#asked === 'alone' ? AGAIN_MS : EACH_MS);
    }
    return this.askAt(now);
  }

  /** The same for continuing queries. */
  askAt(now: number): number {
    const others = Array.from({ length: OTHERS }, (_, i) => NAME + 1 + i);
    for (let at = now + this.#random() * NODE_MS; ; at += NODE_MS) {
      this.#node.note([NAME], at);
      if (this.#asked !== 'never') this.#node.note(others, at);
      if (this.#node.take(at).includes(NAME)) return at + this.#random() * WORKERS_MS;
    }
  }

  /** A report is read. Returns when the check is due. */
  plan(now: number): number {
    const again = this.#asked === 'among many' ? EACH_MS : 0;
    const { at } = this.#plan({ checkedAt: this.#checkedAt, again }, now);
    this.#dueAt = Math.min(this.#dueAt, at);
    return this.#dueAt;
  }

  /** True if a check is due, which then starts. */
  takeDue(now: number): boolean {
    if (this.#dueAt > now) return false;
    this.#dueAt = Number.POSITIVE_INFINITY;
    this.#checkedAt = now;
    return true;
  }
}
