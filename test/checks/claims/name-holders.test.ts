import { expect, it } from 'vitest';
import { wasHeldByOthers, wasHolder } from '../../../src/checks/claims/name-holders.ts';

const NOW = 1_800_000_000_000;
const DAY = 86_400_000;

it('the account that held the name is exempt for 90 days, and remembered for two years', () => {
  const holders = [{ accountId: 1, activeAt: NOW - 90 * DAY + 1 }];
  expect(wasHolder(holders, 1, NOW)).toBe(true);
  expect(wasHolder(holders, 1, NOW + 1)).toBe(false);
  expect(wasHolder(holders, 2, NOW)).toBe(false);
  expect(wasHeldByOthers(holders, 1, NOW)).toBe(false);
  expect(wasHeldByOthers(holders, 2, NOW + 639 * DAY)).toBe(true);
  expect(wasHeldByOthers(holders, 2, NOW + 641 * DAY)).toBe(false);
});
