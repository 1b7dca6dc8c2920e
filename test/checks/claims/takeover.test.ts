import { expect, it } from 'vitest';
import { nextTakeoverStep } from '../../../src/checks/claims/takeover.ts';
import { judgeDelegation } from '../../../src/checks/delegation/judge-delegation.ts';
import { evidenceOf, expectedSets } from '../../support/world/check-evidence.ts';

const NOW = 1_800_000_000_000;
const EXPECTED = expectedSets('ns1.a ns2.a');
const CALM = { takeovers: [], isFrozen: false };

function step(said: string, since: number | undefined, more: { parentAddresses?: number } = {}) {
  const evidence = evidenceOf(said, { finishedAt: NOW, ...more });
  return nextTakeoverStep({ ...CALM, since }, evidence, judgeDelegation(evidence, EXPECTED));
}

it('the second check asks as many addresses as the parent has, six at most', () => {
  const six = Array(6).fill('referral ns1.a ns2.a').join('; ');
  expect(step(six, NOW - 60_000, { parentAddresses: 13 }).kind).toBe('taken');
  const five = Array(5).fill('referral ns1.a ns2.a').join('; ');
  expect(step(five, NOW - 60_000, { parentAddresses: 13 })).toEqual({
    kind: 'seen',
    since: NOW - 60_000,
    nextAt: NOW + 60_000,
  });
});

it('a zone of our own above the name says all that there is to hear', () => {
  expect(step('database ns1.a ns2.a', NOW - 60_000).kind).toBe('taken');
});

it('a clock that went back makes it wait again from now', () => {
  expect(step('referral ns1.a ns2.a; referral ns1.a ns2.a', NOW + 5000)).toMatchObject({
    kind: 'seen',
    since: NOW,
  });
});
