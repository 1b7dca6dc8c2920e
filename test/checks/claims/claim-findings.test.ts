import { expect, it } from 'vitest';
import { findingsOf } from '../../../src/checks/claims/claim-findings.ts';
import type { CheckedClaim } from '../../../src/checks/claims/name-claims.ts';
import { judgeDelegation } from '../../../src/checks/delegation/judge-delegation.ts';
import { nextStatus } from '../../../src/checks/delegation/next-status.ts';
import type { Steadiness } from '../../../src/checks/delegation/steadiness.ts';
import { evidenceOf, names } from '../../support/world/check-evidence.ts';
import { claimState, DAY, madeClaim, madeName, RULES } from '../../support/world/made-claims.ts';

const OWN = names('ns1.a ns2.a');
const OTHER = names('ns1.b ns2.b');

interface Case {
  readonly sets?: (typeof OWN)[];
  readonly ageMs?: number;
  readonly isHeld?: boolean;
  readonly status?: 'pending' | 'active';
  readonly steadiness?: Steadiness;
  readonly inner?: NonNullable<CheckedClaim['inner']>;
}

function codes(
  said: string,
  { sets = [OWN], ageMs = 0, isHeld = false, status = 'pending', steadiness, inner = [] }: Case = {},
) {
  const state = claimState(status, { since: -ageMs, conclusive: undefined, steadiness });
  const exclusive = sets.map((set) => ({ names: set, exclusive: true }));
  const claim = madeClaim(1, state, exclusive, { inner });
  const externalHolder = isHeld ? { id: 2, accountId: 2 } : undefined;
  const name = madeName([claim], { externalHolder, ours: new Set([...OWN, ...OTHER]) });
  const judgement = judgeDelegation(evidenceOf(`${said}; ${said}`), { sets, ours: name.ours });
  const decision = nextStatus(claim.state, judgement, 0, RULES, false);
  return findingsOf(name, claim, { judgement, decision, sets }).map(({ code }) => code);
}

it('names of ours that are not the claim’s are one sentence, which says all that is to change', () => {
  expect(codes('referral ns1.b ns2.b')).toEqual(['PRESET_DELEGATION']);
  expect(codes('referral ns1.a ns1.b old.x')).toEqual(['PRESET_DELEGATION']);
  expect(codes('referral old.x')).toEqual(['NS_FOREIGN']);
  expect(codes('referral ns1.a')).toEqual(['NS_MISSING']);
});

it('a held name, spent sets and the end of the time are told beside what the parent says', () => {
  expect(codes('nxdomain', { isHeld: true })).toEqual(['NOT_REGISTERED', 'NAME_IN_USE']);
  expect(codes('nodata', { sets: [] })).toEqual(['NOT_DELEGATED', 'SETS_SPENT']);
  expect(codes('nodata', { ageMs: 28 * DAY })).toEqual(['NOT_DELEGATED', 'PENDING_OVER']);
});

it('a delegation that changed often is told beside the rest, of domains that wait and of active ones', () => {
  const steadiness = { seen: 1, changedAt: [-3, -2, -1] };
  expect(codes('referral old.x', { steadiness })).toEqual(['NS_FOREIGN', 'NS_UNSTEADY']);
  expect(codes('referral ns1.a ns2.a', { steadiness, status: 'active' })).toEqual(['NS_UNSTEADY']);
});

it('a claim reads which domains inside it would end, until it is proven', () => {
  const inner = [{ name: names('in.shop.com')[0] as never, ns: OTHER }];
  expect(codes('referral old.x', { inner })).toEqual(['NS_FOREIGN', 'INNER_DELEGATED']);
  expect(codes('referral ns1.a ns2.a', { inner })).toEqual([]);
});
