// Stops moves to `moved` and `disabled` if too many active domains lose their delegation at the same time: the cause is
// probably our own network or a registry's mistake, not the owners (docs/rules.md "Breaker"). The breaker trips when
// domains turn, and stays tripped until most of them match again: a domain moves a day after its turn, when turns may have
// ended.

import { isMiss } from './next-status.ts';
import type { Verdict } from './verdict.ts';

/** Maximum length of the reason that an operator gives for freezing moves manually. */
export const MAX_REASON = 500;
/** Maximum duration of a freeze with an end. */
export const MAX_FREEZE_MS = 366 * 86_400_000;

const MIN_TURNED = 20;
const MAX_SHARE = 0.1;
/**
 * Fraction of checks. A domain that misses is checked every hour and the others twice a day, so this is about a tenth of
 * the domains.
 */
const MAX_OFF_SHARE = 0.5;

/** Number of active domains under one parent that were checked within 15 minutes, and number of those that turned (see `isTurn`). */
export interface CheckCounts {
  /** Name of the parent under which checks are counted. '' for checks that found no parent. */
  readonly parent: string;
  readonly checked: number;
  readonly turned: number;
  /** Number that showed none of our servers, whether or not that was new. */
  readonly off: number;
}

type Sums = Omit<CheckCounts, 'parent'>;

/**
 * Returns the parents whose moves must be held, with their sums. `''` holds all moves. `counts` may have several rows for a
 * parent. `held`: the parents that are held now.
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

/** True if none of our servers was seen. */
export function isOff(verdict: Verdict): boolean {
  return verdict === 'unknown' || isMiss(verdict);
}

/**
 * True if an active domain turned: its verdict is no longer a match, or checks no longer see anything. The first check of a
 * domain is compared with a match.
 */
export function isTurn(before: Verdict | undefined, after: Verdict): boolean {
  if (before === undefined || before === 'match') return after !== 'match';
  return after === 'unknown' && before !== 'unknown';
}
