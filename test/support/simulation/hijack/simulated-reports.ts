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

export function simulateReports(asked: AskedByStrangers, planAsked: Decisions['planAsked'], random: Random) {
  const node = new AskedZones(random);
  let checkedAt: number | undefined;
  let dueAt = Number.POSITIVE_INFINITY;

  /** Queries start at `now`. Returns when the workers read the report. */
  function begin(now: number): number {
    if (asked !== 'never') {
      // At a random time of the continuing queries.
      const reportedAt = now - AGAIN_MS * random();
      node.note([NAME], reportedAt);
      node.take(reportedAt);
      checkedAt = now - random() * (asked === 'alone' ? AGAIN_MS : EACH_MS);
    }
    return askAt(now);
  }

  /** The same for continuing queries. */
  function askAt(now: number): number {
    const others = Array.from({ length: OTHERS }, (_, i) => NAME + 1 + i);
    for (let at = now + random() * NODE_MS; ; at += NODE_MS) {
      node.note([NAME], at);
      if (asked !== 'never') node.note(others, at);
      if (node.take(at).includes(NAME)) return at + random() * WORKERS_MS;
    }
  }

  /** A report is read. Returns when the check is due. */
  function plan(now: number): number {
    const again = asked === 'among many' ? EACH_MS : 0;
    const { at } = planAsked({ checkedAt, again }, now);
    dueAt = Math.min(dueAt, at);
    return dueAt;
  }

  /** True if a check is due, which then starts. */
  function takeDue(now: number): boolean {
    if (dueAt > now) return false;
    dueAt = Number.POSITIVE_INFINITY;
    checkedAt = now;
    return true;
  }

  return { begin, askAt, plan, takeDue };
}
