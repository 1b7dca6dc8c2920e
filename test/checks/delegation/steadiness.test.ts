import { expect, it } from 'vitest';
import {
  nextSteadiness,
  type Steadiness,
  unsteadyChanges,
} from '../../../src/checks/delegation/steadiness.ts';
import { names } from '../../support/world/check-evidence.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;
const START = 1_800_000_000_000;

/** What is remembered after checks a minute apart; `?` is one that is not confirmed. */
const after = (sets: readonly string[], { stepMs = MINUTE, from = START } = {}) =>
  sets.reduce<Steadiness | undefined>(
    (before, set, i) =>
      nextSteadiness(
        before,
        {
          confirmed: !set.startsWith('?'),
          observed: set === '?' ? undefined : names(set.replace('?', '')),
        },
        from + i * stepMs,
      ),
    undefined,
  );
const count = (sets: readonly string[], options = {}) => unsteadyChanges(after(sets, options))?.count;

it('three changes within a day are told, a move here and back is not', () => {
  expect(count(['old.x', 'ns1.a', 'old.x'])).toBeUndefined();
  expect(count(['ns1.a', 'old.x', 'ns1.a', ''])).toBe(3);
  expect(count(['ns1.a', '', 'ns1.a', '', 'ns1.a'])).toBe(4);
});

it('the same names in another order are no change, and neither is what one server alone says, or nobody', () => {
  expect(count(['ns1.a ns2.a', 'ns2.a ns1.a', 'ns1.a ns2.a', 'ns2.a ns1.a'])).toBeUndefined();
  expect(count(['ns1.a', '?old.x', 'ns1.a', '?old.x', '?', 'ns1.a'])).toBeUndefined();
});

it('a change is forgotten after a day, also while nothing answers', () => {
  const unsteady = after(['ns1.a', '', 'ns1.a', '']);
  const silent = { confirmed: false, observed: undefined };
  expect(unsteadyChanges(nextSteadiness(unsteady, silent, START + DAY))).toEqual({ count: 3, isMore: false });
  expect(unsteadyChanges(nextSteadiness(unsteady, silent, START + DAY + MINUTE))).toBeUndefined();
  expect(count(['ns1.a', '', 'ns1.a', '', 'ns1.a'], { stepMs: DAY / 2 })).toBeUndefined();
});

it('at most 32 changes are remembered, however often the delegation changes', () => {
  const many = after(Array.from({ length: 1000 }, (_, i) => `ns${i % 2}.a`));
  expect(many?.changedAt).toHaveLength(32);
  expect(unsteadyChanges(many)).toEqual({ count: 32, isMore: true });
});

it('a clock that goes back forgets the changes that would be in the future', () => {
  const unsteady = after(['ns1.a', '', 'ns1.a', '']);
  const back = nextSteadiness(unsteady, { confirmed: true, observed: [] }, START);
  expect(back?.changedAt).toEqual([]);
});
