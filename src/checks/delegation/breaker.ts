// Stops moves to `moved` and `disabled` when too many active domains turn away at once: the cause is then rather our
// own network, or a registry's mistake, than so many owners (docs/rules.md "Breaker"). It trips when domains turn, and
// stays until most of them look right again: misses move a domain a day after the turn, when no more domains turn.

import { isMiss } from './next-status.ts';
import type { Verdict } from './verdict.ts';

/** The characters of what an operator says who freezes moves by hand. */
export const MAX_REASON = 500;
/** A freeze that has an end is not meant for longer. */
export const MAX_FREEZE_MS = 366 * 86_400_000;

const MIN_TURNED = 20;
const MAX_SHARE = 0.1;
/**
 * The share of checks. A domain that misses is checked every hour, the others twice a day, so this is about a tenth of
 * the domains.
 */
const MAX_OFF_SHARE = 0.5;

/** How many active domains under one parent were checked within 15 minutes, and how many of them turned. */
export interface CheckCounts {
  /** The parent's name under which checks are counted; '' for checks that found no parent. */
  readonly parent: string;
  readonly checked: number;
  readonly turned: number;
  /** How many showed none of our servers, whether or not that was new. */
  readonly off: number;
}

type Sums = Omit<CheckCounts, 'parent'>;

/**
 * The parents whose moves must be held, with their sums; `''` holds all of them. A parent may be counted in many rows.
 * `held`: the parents that are held now.
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

/** None of our servers was seen. */
export function isOff(verdict: Verdict): boolean {
  return verdict === 'unknown' || isMiss(verdict);
}

/**
 * Whether an active domain turned: its verdict is no longer a match, or nothing can be seen any more. Its first check
 * counts as one after a match.
 */
export function isTurn(before: Verdict | undefined, after: Verdict): boolean {
  if (before === undefined || before === 'match') return after !== 'match';
  return after === 'unknown' && before !== 'unknown';
}
