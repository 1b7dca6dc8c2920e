// Stops moves to `moved` and `disabled` when too many active domains look different at once: rather our own network, or
// a registry's mistake, than so many owners. It opens at the turn and stays until most of them look right again: misses
// are due to move a domain a day after the turn, when nothing turns any more.

import { isMiss } from './next-status.ts';
import type { Verdict } from './verdict.ts';

const MIN_TURNED = 20;
const MAX_SHARE = 0.1;
/** Of the checks. One that misses is checked every hour, the others twice a day: about a tenth of the domains. */
const MAX_OFF_SHARE = 0.5;

/** Active domains under one parent that were checked within 15 minutes, and those of them that turned. */
export interface CheckCounts {
  /** The parent's name as it is counted by; '' for checks that found no parent. */
  readonly parent: string;
  readonly checked: number;
  readonly turned: number;
  /** Those that showed nothing of ours, whether or not that was news. */
  readonly off: number;
}

type Sums = Omit<CheckCounts, 'parent'>;

/**
 * The parents whose moves are to be held, with their sums; `''` holds all of them. A parent may be counted in many rows.
 * `held`: those that are by now.
 */
export function judgeBreaker(
  counts: readonly CheckCounts[],
  held: ReadonlySet<string> = new Set(),
): readonly CheckCounts[] {
  const sums = new Map<string, Sums>([['', { checked: 0, turned: 0, off: 0 }]]);
  for (const { parent, checked, turned, off } of counts)
    for (const key of parent === '' ? [''] : ['', parent]) {
      const sum = sums.get(key) ?? { checked: 0, turned: 0, off: 0 };
      sums.set(key, { checked: sum.checked + checked, turned: sum.turned + turned, off: sum.off + off });
    }
  const isHeld = (parent: string, sum: Sums) => isTooMuch(sum) || (held.has(parent) && isStillOff(sum));
  return [...sums].flatMap(([parent, sum]) => (isHeld(parent, sum) ? [{ parent, ...sum }] : []));
}

function isTooMuch({ checked, turned }: Sums): boolean {
  return turned >= MIN_TURNED && turned > checked * MAX_SHARE;
}

function isStillOff({ checked, off }: Sums): boolean {
  return off >= MIN_TURNED && off > checked * MAX_OFF_SHARE;
}

/** Nothing of ours was seen. */
export function isOff(verdict: Verdict): boolean {
  return verdict === 'unknown' || isMiss(verdict);
}

/** Of an active domain: no longer a match, or nothing to be seen any more. Its first check is one after a match. */
export function isTurn(before: Verdict | undefined, after: Verdict): boolean {
  if (before === undefined || before === 'match') return after !== 'match';
  return after === 'unknown' && before !== 'unknown';
}
