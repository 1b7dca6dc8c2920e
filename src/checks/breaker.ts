// Stops moves to `moved` and `disabled` when too many active domains look different at once: rather our own network, or
// a registry's mistake, than so many owners.

import type { Verdict } from './verdict.ts';

const MIN_TURNED = 20;
const MAX_SHARE = 0.1;

/** Active domains under one parent that were checked within 15 minutes, and those of them that turned. */
export interface CheckCounts {
  /** The parent's name as it is counted by; '' for checks that found no parent. */
  readonly parent: string;
  readonly checked: number;
  readonly turned: number;
}

/** The parents whose moves are to be held, with their sums; `''` holds all of them. A parent may be counted in many rows. */
export function judgeBreaker(counts: readonly CheckCounts[]): readonly CheckCounts[] {
  const sums = new Map<string, { checked: number; turned: number }>([['', { checked: 0, turned: 0 }]]);
  for (const { parent, checked, turned } of counts)
    for (const key of parent === '' ? [''] : ['', parent]) {
      const sum = sums.get(key) ?? { checked: 0, turned: 0 };
      sums.set(key, { checked: sum.checked + checked, turned: sum.turned + turned });
    }
  return [...sums].flatMap(([parent, sum]) => (isTooMuch(sum) ? [{ parent, ...sum }] : []));
}

function isTooMuch({ checked, turned }: { checked: number; turned: number }): boolean {
  return turned >= MIN_TURNED && turned > checked * MAX_SHARE;
}

/** Of an active domain: no longer a match, or nothing to be seen any more. Its first check is one after a match. */
export function isTurn(before: Verdict | undefined, after: Verdict): boolean {
  if (before === undefined || before === 'match') return after !== 'match';
  return after === 'unknown' && before !== 'unknown';
}
