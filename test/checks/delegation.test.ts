// The verdict on what the servers of the parent say, and the findings that explain it.

import { describe, expect, it } from 'vitest';
import type { Expected } from '../../src/checks/delegation/check-state.ts';
import type { WalkFailure } from '../../src/checks/delegation/evidence.ts';
import { judgeDelegation } from '../../src/checks/delegation/judge-delegation.ts';
import type { Judgement } from '../../src/checks/delegation/verdict.ts';
import { type Name, parseName, printName } from '../../src/dns/name.ts';
import { evidenceOf, expectedSets } from '../support/world/check-evidence.ts';

/** a and b are accepted; c is a set of the fleet that was taken off this domain; d shares ns2.a with a. */
const EXPECTED = expectedSets(
  'ns1.a ns2.a | ns1.b ns2.b ns3.b',
  'ns1.a ns2.a | ns1.b ns2.b ns3.b | ns1.c ns2.c',
);
const SHARED = expectedSets('ns1.a ns2.a | ns1.d ns2.a');

/** The same, with the addresses of our servers known: no parent in these tables has them, unless it says `@192.0.2.99`. */
const THEIRS: Expected = { ...EXPECTED, ourAddresses: new Set(['192.0.2.99']) };

const HELD = 'answer ns1.a ns2.a';
const A = 'referral ns1.a ns2.a';
const F = 'referral ns1.x ns2.x';

/** What the addresses said, of how many that the parent has; the verdict, `confirmations` with `!` when confirmed. */
type Line = [said: string, verdict: string, confirmations: string, findings: string, of?: number];

function show({ verdict, confirmations, confirmed, staleDs, findings }: Judgement) {
  return {
    verdict: `${verdict}${staleDs ? ' +ds' : ''}`,
    confirmations: `${confirmations}${confirmed ? '!' : ''}`,
    findings: findings.map(({ code }) => code).join(' '),
  };
}

function table(title: string, expected: Expected, lines: readonly Line[]): void {
  describe(title, () => {
    it.each(lines)('%s: %s', (said, verdict, confirmations, findings, of) => {
      const evidence = evidenceOf(said, of === undefined ? {} : { parentAddresses: of });
      expect(show(judgeDelegation(evidence, expected))).toEqual({ verdict, confirmations, findings });
    });
  });
}

table('the NS set of a delegation', EXPECTED, [
  [`${A}; ${A}`, 'match', '2!', ''],
  ['referral ns2.a ns1.a; referral NS1.A ns2.A', 'match', '2!', ''],
  ['referral ns1.b ns3.b ns2.b; referral ns1.b ns2.b ns3.b', 'match', '2!', ''],
  ['referral ns1.a; referral ns1.a', 'partial', '2!', 'NS_MISSING'],
  ['referral ns1.b ns3.b; referral ns3.b ns1.b', 'partial', '2!', 'NS_MISSING'],
  ['referral ns1.a ns1.x; referral ns1.a ns1.x', 'partial', '2!', 'NS_MISSING NS_EXTRA'],
  ['referral ns1.a ns2.a ns1.x; referral ns1.a ns2.a ns1.x', 'extra', '2!', 'NS_EXTRA'],
  ['referral ns1.a ns1.b; referral ns1.a ns1.b', 'mixed', '2!', 'NS_MIXED'],
  ['referral ns1.a ns2.a ns1.b; referral ns1.a ns2.a ns1.b', 'mixed', '2!', 'NS_MIXED'],
  ['referral ns1.a ns1.b ns1.x; referral ns1.a ns1.b ns1.x', 'mixed', '2!', 'NS_MIXED'],
  // others’ nameservers of ours are foreign: they bring nobody to this domain
  ['referral ns1.a ns1.c; referral ns1.a ns1.c', 'partial', '2!', 'NS_MISSING NS_EXTRA'],
  [`${F}; ${F}`, 'foreign', '2!', 'NS_FOREIGN'],
]);

table('a set of ours that the domain may not have', EXPECTED, [
  ['referral ns1.c ns2.c; referral ns1.c ns2.c', 'foreign', '2!', 'NS_FOREIGN'],
  ['referral ns1.c; referral ns1.c', 'foreign', '2!', 'NS_FOREIGN'],
  ['referral ns1.c ns2.c ns1.x; referral ns1.c ns2.c ns1.x', 'foreign', '2!', 'NS_FOREIGN'],
]);

table('sets that share a name', SHARED, [
  ['referral ns1.d ns2.a; referral ns1.d ns2.a', 'match', '2!', ''],
  ['referral ns2.a; referral ns2.a', 'partial', '2!', 'NS_MISSING'],
  ['referral ns1.a ns1.d; referral ns1.a ns1.d', 'mixed', '2!', 'NS_MIXED'],
  ['referral ns1.a ns1.d ns2.a; referral ns1.a ns1.d ns2.a', 'mixed', '2!', 'NS_MIXED'],
]);

table('no set left', expectedSets('', 'ns1.a ns2.a'), [
  [`${A}; ${A}`, 'foreign', '2!', 'NS_FOREIGN'],
  [`${F}; ${F}`, 'foreign', '2!', 'NS_FOREIGN'],
]);

table('no delegation', EXPECTED, [
  ['nodata; nodata', 'not_delegated', '2!', 'NOT_DELEGATED'],
  ['nxdomain; nxdomain', 'unregistered', '2!', 'NOT_REGISTERED'],
  ['alias; alias', 'alias', '2!', 'ALIAS'],
]);

table('addresses that disagree', EXPECTED, [
  [`${A}; ${F}`, 'unknown', '0', 'PARENTS_DISAGREE'],
  [`${A}; referral ns1.a`, 'unknown', '0', 'PARENTS_DISAGREE'],
  [`${F}; ${F}; ${F}; ${A}`, 'unknown', '0', 'PARENTS_DISAGREE'],
  [`${A}; nxdomain`, 'unknown', '0', 'PARENTS_DISAGREE'],
  [`nodata; ${A}; timeout`, 'unknown', '0', 'PARENTS_DISAGREE'],
  ['nodata; nxdomain', 'unknown', '0', 'PARENTS_DISAGREE'],
  ['alias; nodata', 'unknown', '0', 'PARENTS_DISAGREE'],
]);

table('servers that also hold the domain', EXPECTED, [
  // perhaps our own servers, which have a zone for every claim
  ['answer ns1.a ns2.a; answer ns1.a ns2.a', 'unknown', '0', 'OWN_ANSWER'],
  ['answer ns1.a ns1.x; answer ns1.a ns1.x', 'unknown', '0', 'OWN_ANSWER'],
  ['answer ns1.x ns2.x; answer ns1.x ns2.x', 'foreign', '2!', 'NS_FOREIGN'],
  ['answer ns1.a ns2.a; answer ns1.x', 'unknown', '0', 'PARENTS_DISAGREE'],
  ['answer ns1.a ns2.a; nodata', 'unknown', '0', 'PARENTS_DISAGREE'],
  // an AA answer neither contradicts a referral nor confirms it
  [`${A}; answer ns1.x ns2.x; ${A}`, 'match', '2!', ''],
  [`${F}; answer ns1.a ns2.a; ${F}`, 'foreign', '2!', 'NS_FOREIGN'],
  [`${A}; answer ns1.x ns2.x`, 'match', '1', 'UNCONFIRMED'],
  [`${A}; answer ns1.a ns2.a`, 'match', '1', 'UNCONFIRMED'],
  [`answer ns1.a ns2.a; ${A}; nxdomain`, 'unknown', '0', 'PARENTS_DISAGREE'],
]);

table('servers that also hold the domain, at addresses that are known not to be ours', THEIRS, [
  [`${HELD} +cut; ${HELD} +cut`, 'match', '2!', 'PARENT_HOLDS_CHILD'],
  [`${HELD} +cut; ${HELD} +nocut`, 'unknown', '0', 'OWN_ANSWER'],
  [`${HELD} +cut; ${HELD}`, 'unknown', '0', 'OWN_ANSWER'],
  [`${HELD} +cut; ${HELD} +cut @192.0.2.99`, 'unknown', '0', 'OWN_ANSWER'],
  [`${HELD} +cut; timeout`, 'match', '1', 'UNCONFIRMED PARENT_FAILS PARENT_HOLDS_CHILD'],
  [`${HELD} +cut +ds; ${HELD} +cut +ds`, 'match +ds', '2!', 'STALE_DS PARENT_HOLDS_CHILD'],
  [`${HELD} +cut; ${F}; ${F}`, 'foreign', '2!', 'NS_FOREIGN'],
]);

table('a parent that refers with AA', EXPECTED, [
  [`${A} +aa; ${A} +aa`, 'match', '2!', 'PARENT_SETS_AA'],
  [`${A} +aa; ${A}`, 'match', '2!', 'PARENT_SETS_AA'],
  [`${A} +aa; answer ns1.x ns2.x`, 'match', '1', 'UNCONFIRMED PARENT_SETS_AA'],
]);

describe('what a judgement is worth', () => {
  const worth = (said: string, of?: number) => {
    const evidence = evidenceOf(said, of === undefined ? {} : { parentAddresses: of });
    const { byAnswer, soleWitness } = judgeDelegation(evidence, THEIRS);
    return `${byAnswer ? 'by answer' : ''}${soleWitness ? 'sole witness' : ''}`;
  };

  it.each([
    [`${A}; ${A}`, '', undefined],
    [`${HELD} +cut; ${HELD} +cut`, 'by answer', undefined],
    ['answer ns1.x; answer ns1.x', 'by answer', undefined],
    [`${HELD} +cut; ${A}; ${A}`, '', undefined],
    [`${A}; timeout; servfail; bad; lame; refused`, 'sole witness', undefined],
    [`${A}; timeout`, 'sole witness', 13],
    [`${A}; timeout; ${A}`, '', undefined],
    // the other one was not asked, and could contradict
    [A, '', 2],
    // it is all that there is
    [A, '', 1],
    [`${A}; answer ns1.x`, '', undefined],
    ['timeout; timeout', '', undefined],
    [`${A}; ${F}; timeout`, '', undefined],
    ['database ns1.a ns2.a', '', 0],
  ] as const)('%s: %s', (said, expected, of) => {
    expect(worth(said, of)).toBe(expected);
  });
});

table('addresses that fail', EXPECTED, [
  [`${A}; timeout; ${A}`, 'match', '2!', 'PARENT_FAILS'],
  [`timeout; ${F}; lame; ${F}`, 'foreign', '2!', 'NS_FOREIGN PARENT_FAILS'],
  [`${A}; timeout`, 'match', '1', 'UNCONFIRMED PARENT_FAILS'],
  ['nxdomain; servfail; refused', 'unregistered', '1', 'NOT_REGISTERED UNCONFIRMED PARENT_FAILS'],
  [A, 'match', '1!', '', 1],
  [A, 'match', '1', 'UNCONFIRMED', 2],
  [F, 'foreign', '1', 'NS_FOREIGN UNCONFIRMED', 13],
  [`${A} @192.0.2.1; ${A} @192.0.2.1`, 'match', '1', 'UNCONFIRMED', 2],
  ['timeout; timeout', 'unknown', '0', 'PARENT_UNREACHABLE'],
  ['timeout; refused; servfail; bad; lame', 'unknown', '0', 'PARENT_UNREACHABLE'],
  ['lame; lame', 'unknown', '0', 'PARENT_LAME'],
  ['referral; answer', 'unknown', '0', 'PARENT_UNREACHABLE'],
  ['', 'unknown', '0', 'PARENT_UNREACHABLE'],
]);

table('a parent that this fleet serves', EXPECTED, [
  ['database ns1.a ns2.a', 'match', '1!', '', 0],
  ['database ns1.x', 'foreign', '1!', 'NS_FOREIGN', 0],
  ['database', 'not_delegated', '1!', 'NOT_DELEGATED', 0],
]);

table('a DS of a key of the domain', { ...EXPECTED, ownDs: new Set([`30390d02${'07'.repeat(32)}`]) }, [
  [`${A} +ds; ${A} +ds`, 'match', '2!', ''],
  [`${F} +ds; ${F} +ds`, 'foreign', '2!', 'NS_FOREIGN'],
]);

table('a DS at the parent', EXPECTED, [
  [`${A} +ds; ${A} +ds`, 'match +ds', '2!', 'STALE_DS'],
  [`${A}; ${A} +ds`, 'match +ds', '2!', 'STALE_DS'],
  [`${F} +ds; ${F} +ds`, 'foreign +ds', '2!', 'NS_FOREIGN STALE_DS'],
  ['database ns1.a ns2.a +ds', 'match +ds', '1!', 'STALE_DS', 1],
  [`${A} +ds; ${F}`, 'unknown', '0', 'PARENTS_DISAGREE'],
]);

describe('what is shown', () => {
  const shown = (
    said: string,
  ): { observed: readonly Name[] | undefined; ours: boolean | undefined; set: number } => {
    const { observed, oursShown, matched } = judgeDelegation(evidenceOf(said), EXPECTED);
    return { observed, ours: oursShown, set: EXPECTED.sets.indexOf(matched ?? []) };
  };
  const n = (...texts: string[]) => texts.map((text) => parseName(text));

  it.each([
    [A, n('ns1.a.', 'ns2.a.'), true, 0],
    ['referral ns1.b ns2.b ns3.b', n('ns1.b.', 'ns2.b.', 'ns3.b.'), true, 1],
    ['referral ns1.C ns1.x', n('ns1.c.', 'ns1.x.'), false, -1],
    ['referral ns1.a ns1.b', n('ns1.a.', 'ns1.b.'), true, -1],
    [F, n('ns1.x.', 'ns2.x.'), false, -1],
    ['nxdomain', [], false, -1],
    ['nodata', [], false, -1],
    ['alias', [], false, -1],
    [`${A}; nxdomain`, undefined, undefined, -1],
    ['timeout', undefined, undefined, -1],
  ] as const)('by %s', (said, observed, ours, set) => {
    expect(shown(said)).toEqual({ observed, ours, set });
  });
});

describe('a walk that failed', () => {
  it.each([
    ['unreachable', 'PARENT_UNREACHABLE'],
    ['no_address', 'PARENT_UNREACHABLE'],
    ['lame', 'PARENT_LAME'],
    ['limit', 'WALK_LIMIT'],
    ['loop', 'DELEGATION_LOOP'],
    ['bogus', 'PARENT_BOGUS'],
    ['validation_limit', 'VALIDATION_LIMIT'],
    ['later', 'TRY_LATER'],
  ] as const)('%s decides nothing', (reason, code) => {
    const failure: WalkFailure = { zone: parseName('co.'), reason, message: 'x' };
    const judgement = judgeDelegation(
      evidenceOf('', { parent: undefined, parentAddresses: 0, failure }),
      EXPECTED,
    );
    expect(show(judgement)).toEqual({ verdict: 'unknown', confirmations: '0', findings: code });
    expect(judgement.findings[0]?.message).toContain('zone co');
  });

  it('does not outweigh two addresses of the parent that answered before it was aborted', () => {
    const failure: WalkFailure = { zone: parseName('com.'), reason: 'limit', message: '15 s' };
    const judgement = judgeDelegation(
      evidenceOf(`timeout; ${A}; ${A}`, { failure, parentAddresses: 6 }),
      EXPECTED,
    );
    expect(show(judgement)).toEqual({ verdict: 'match', confirmations: '2!', findings: 'PARENT_FAILS' });
  });
});

describe('what the owner has to change', () => {
  const told = (said: string) =>
    judgeDelegation(evidenceOf(`${said}; ${said}`), EXPECTED).findings.map(({ message, names }) => [
      message,
      names?.map(printName).join(' '),
    ])[0];

  // the sentences themselves are proved by findings.test.ts
  it.each([
    [
      'what to remove and what to keep',
      'referral ns1.a ns2.a ns3.old',
      'keep exactly ns1.a and ns2.a.',
      'ns3.old.',
    ],
    ['what to add', 'referral ns2.b', 'exactly ns1.b, ns2.b and ns3.b are set.', 'ns1.b. ns3.b.'],
    [
      'the set that has most names',
      'referral ns1.b ns2.b ns3.b ns1.a',
      'set exactly ns1.b, ns2.b and ns3.b',
      'ns1.a.',
    ],
    ['the set for a domain elsewhere', F, 'exactly ns1.a and ns2.a.', 'ns1.x. ns2.x.'],
    ['the set for a domain without NS', 'nodata', 'exactly ns1.a and ns2.a.', undefined],
    ['the set for a domain that does not exist', 'nxdomain', 'exactly ns1.a and ns2.a.', undefined],
    ['the set for an alias', 'alias', 'exactly ns1.a and ns2.a.', undefined],
    ['the key tags of DS records', `${A} +ds`, 'remove the DS records (key tags: 12345)', undefined],
  ])('is %s', (_, said, message, names) => {
    expect(told(said)).toEqual([expect.stringContaining(message), names]);
  });
});

describe('what the parent’s keys do not vouch for', () => {
  const codes = (text: string) =>
    judgeDelegation(evidenceOf(text), expectedSets('ns1.a ns2.a')).findings.map(({ code }) => code);

  it('counts as no reply', () => {
    expect(codes('bogus ns1.a ns2.a; bogus ns1.a ns2.a')).toEqual(['PARENT_BOGUS']);
    expect(codes('limit; bogus')).toEqual(['VALIDATION_LIMIT']);
    expect(codes('timeout; bogus')).toEqual(['PARENT_BOGUS']);
    expect(codes('referral ns1.a ns2.a; bogus ns1.x; referral ns1.a ns2.a')).toEqual(['PARENT_FAILS']);
  });

  it('is told of the root as well', () => {
    const evidence = evidenceOf('nxdomain; nxdomain', { security: 'indeterminate', rootFault: true });
    expect(judgeDelegation(evidence, expectedSets('ns1.a')).rootFault).toBe(true);
    expect(judgeDelegation(evidenceOf('nxdomain; nxdomain'), expectedSets('ns1.a'))).not.toHaveProperty(
      'rootFault',
    );
  });
});
