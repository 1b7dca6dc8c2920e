import { expect, it } from 'vitest';
import { areTooMany, isNewSighting } from '../../../src/checks/claims/sightings.ts';

const NOW = 1_800_000_000_000;
const DAY = 86_400_000;

it('names that were not seen together before are written, and the same again once a week', () => {
  const known = [{ names: ['a.', 'b.'], lastSeenAt: NOW - 7 * DAY }];
  expect(isNewSighting(known, ['a.'], NOW)).toBe(true);
  expect(isNewSighting(known, ['a.', 'b.'], NOW)).toBe(false);
  expect(isNewSighting(known, ['a.', 'b.'], NOW + 1)).toBe(true);
  expect(isNewSighting(known, [], NOW)).toBe(false);
});

it('a registry that shows ever other names fills no table: from the 65th on nothing new is written', () => {
  const known = Array.from({ length: 64 }, (_, i) => ({ names: [`n${i}.`], lastSeenAt: NOW }));
  expect([areTooMany(known), isNewSighting(known, ['x.'], NOW)]).toEqual([false, true]);
  const more = [...known, { names: ['x.'], lastSeenAt: NOW }];
  expect([areTooMany(more), isNewSighting(more, ['y.'], NOW)]).toEqual([true, false]);
});
