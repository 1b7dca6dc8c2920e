import { expect, it } from 'vitest';
import { isConclusive } from '../../../src/checks/delegation/conclusive.ts';

it.each([
  'referral',
  'answer',
  'nodata',
  'nxdomain',
  'alias',
] as const)('%s is a word about the name', (outcome) => expect(isConclusive({ outcome })).toBe(true));

it.each(['lame', 'timeout', 'refused', 'servfail', 'bad'] as const)('%s is none', (outcome) =>
  expect(isConclusive({ outcome })).toBe(false));
