// A thousand days of names whose owners, registries and strangers do all that they may: no account becomes active for which
// the parent was not changed, no honest owner is locked out, and what is answered before proof is bounded.

import { describe, expect, it } from 'vitest';
import { BROKEN } from '../../support/simulation/hijack/broken-decisions.ts';
import { ADMITTED } from '../../support/simulation/hijack/hijack-judge.ts';
import { simulateHijacks } from '../../support/simulation/hijack/hijack-simulation.ts';
import { scale } from '../../support/tests/scale.ts';

/** In full another world each time; reduced the same one, since its few names are no proof. */
const SEED = Number(process.env.ZONEFLEET_SEED ?? scale(Math.floor(Math.random() * 2 ** 20), 1));
/** Names for which one broken rule is sought. */
const ENOUGH = scale(400, 100);

const [WRITTEN, DANGLING, RECENT, OLD, ONE_SET, ALL_LIE] = ADMITTED;

/** The longest time among the fastest 99 of 100. */
function percentile99(seconds: readonly number[]): number {
  const sorted = seconds.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))] ?? 0;
}

it.each([
  ['pool', scale(10_000, 50), [WRITTEN, ALL_LIE]],
  ['two', scale(3000, 30), [WRITTEN, DANGLING, RECENT, OLD, ALL_LIE]],
  ['one', scale(3000, 30), [WRITTEN, DANGLING, RECENT, OLD, ONE_SET, ALL_LIE]],
  ['scarce', scale(3000, 30), [WRITTEN, DANGLING, RECENT, OLD, ALL_LIE]],
] as const)(`a fleet with the nameserver sets %s activates a claim only as the rules admit (seed ${SEED})`, (fleet, names, admitted) => {
  const judge = simulateHijacks({ seed: SEED, names, fleet });
  expect(judge.violations.map(({ text }) => text)).toEqual([]);
  expect(admitted).toEqual(expect.arrayContaining([...judge.causes]));
  expect(judge.activeAfter.length).toBeGreaterThan(10);
  if (fleet !== 'pool') return;
  expect(judge.lockedOutBySpent).toBe(0);
  expect(judge.activeAfter.length).toBeGreaterThan(50);
  expect(judge.taken).toBeGreaterThan(10);
  expect(percentile99(judge.activeAfter)).toBeLessThanOrEqual(180);
  expect(percentile99(judge.activeAfterBesideMany)).toBeLessThanOrEqual(180);
});

describe('it sees a broken rule', () => {
  it.each(BROKEN)('$rule', ({ rule: _, seen, ...options }) => {
    const { violations } = simulateHijacks({ ...options, seed: SEED, names: ENOUGH, stopsAt: seen });
    expect(violations.filter(({ kind }) => seen.includes(kind))).not.toEqual([]);
  });
});
