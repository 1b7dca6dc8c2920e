import { describe, expect, it } from 'vitest';
import { type Circumstances, judgeName } from '../../../src/checks/claims/judge-name.ts';
import type { CheckedClaim, NameClaims } from '../../../src/checks/claims/name-claims.ts';
import type { CheckState } from '../../../src/checks/delegation/check-state.ts';
import type { Evidence } from '../../../src/checks/delegation/evidence.ts';
import {
  changesOf,
  giveUnheldName,
  judgeElsewhere,
  type VantageWord,
  viewsOf,
} from '../../../src/checks/vantage/judge-change.ts';
import { evidenceOf, names } from '../../support/world/check-evidence.ts';
import { claimState, DAY, HOUR, madeClaim, madeName, NOW, RULES } from '../../support/world/made-claims.ts';

const [A, B] = [names('a1.x b1.y'), names('a2.x b2.y')];
const AROUND: Circumstances = { rules: RULES, isFrozen: false, random: () => 0.5 };
const SHOWS_A = 'referral a1.x b1.y; referral a1.x b1.y';
const SHOWS_B = 'referral a2.x b2.y; referral a2.x b2.y';
const GONE = 'nxdomain; nxdomain';
const ELSEWHERE = 'referral c.z; referral c.z';

const here = (said: string, more: Partial<Evidence> = {}) =>
  evidenceOf(said, { startedAt: NOW - 20, finishedAt: NOW, ...more });

const claim = (id: number, status: CheckState['status'], more: Partial<CheckState> = {}): CheckedClaim =>
  madeClaim(id, claimState(status, more), [{ names: id === 2 ? B : A, exclusive: true }]);
const named = (...claims: readonly CheckedClaim[]): NameClaims =>
  madeName(claims, { ours: new Set([...A, ...B]) });
const missed = { misses: { count: 2, firstAt: NOW - 2 * DAY, lastAt: NOW - HOUR } };
const changes = (name: NameClaims, evidence: Evidence, around = AROUND) =>
  changesOf(name, evidence, around, judgeName(name, evidence, around));
const told = (name: NameClaims, evidence: Evidence) =>
  changes(name, evidence).map(({ claim: { id }, decision }) => `${id} ${decision.to}`);
const word = (name: NameClaims, mine: string, theirs: string, more: Partial<Evidence> = {}) => {
  const evidence = here(mine);
  const there = evidenceOf(theirs, { startedAt: 5, finishedAt: 9, ...more });
  return judgeElsewhere(name, { here: evidence, there }, AROUND, changes(name, evidence));
};

describe('what a check would change', () => {
  const days = (count: number) => ({ since: NOW - count * DAY });
  it.each<[CheckState['status'], Partial<CheckState>, string, string[]]>([
    ['pending', {}, SHOWS_A, ['1 active']],
    ['pending', {}, SHOWS_B, []],
    ['active', {}, SHOWS_A, []],
    ['active', missed, GONE, ['1 moved']],
    ['moved', days(15), ELSEWHERE, ['1 disabled']],
    ['moved', {}, SHOWS_A, ['1 active']],
    ['ended', {}, SHOWS_A, ['1 pending']],
    ['leaving', {}, ELSEWHERE, ['1 left']],
    ['pending', days(29), GONE, ['1 disabled']],
    // time alone ends these
    ['leaving', days(15), ELSEWHERE, []],
    ['pending', { ...days(91), conclusive: undefined }, 'timeout; timeout', []],
  ])('of a claim that is %s (%j) and %s is %j', (status, more, said, expected) => {
    expect(told(named(claim(1, status, more)), here(said))).toEqual(expected);
  });

  it('is a takeover at its second check: the winner and the loser', () => {
    const taking = { ...claim(2, 'pending'), takeoverSeenAt: NOW - 61_000 };
    expect(told(named(claim(1, 'active'), claim(2, 'pending')), here(SHOWS_B))).toEqual([]);
    expect(told(named(claim(1, 'active'), taking), here(SHOWS_B))).toEqual(['1 disabled', '2 active']);
  });

  it('gives an unheld name only where nobody loses anything', () => {
    const gives = (name: NameClaims, evidence: Evidence) => giveUnheldName(name, changes(name, evidence));
    expect(gives(named(claim(1, 'pending')), here(SHOWS_A))).toBe(true);
    expect(gives(named(claim(1, 'moved')), here(SHOWS_A))).toBe(true);
    expect(gives(named(claim(1, 'active', missed)), here(GONE))).toBe(false);
    const taking = { ...claim(2, 'pending'), takeoverSeenAt: NOW - 61_000 };
    expect(gives(named(claim(1, 'active'), taking), here(SHOWS_B))).toBe(false);
    const external = { ...named(taking), externalHolder: { id: 9, accountId: 9 } };
    expect(gives(external, here(SHOWS_B))).toBe(false);
    const stale = claim(1, 'pending', { since: NOW - 57 * DAY });
    expect(gives(named(stale), here('referral a1.x b1.y +ds; referral a1.x b1.y +ds'))).toBe(false);
  });
});

describe('what a vantage says', () => {
  it.each([
    ['the same', SHOWS_A, 'agrees'],
    ['another set', SHOWS_B, 'differs'],
    ['nothing', GONE, 'differs'],
    ['other names', ELSEWHERE, 'differs'],
    ['a stale DS', 'referral a1.x b1.y +ds; referral a1.x b1.y +ds', 'differs'],
    ['silence', 'timeout; timeout', 'silent'],
    ['contradictions', 'referral a1.x b1.y; referral c.z', 'silent'],
    ['one of two addresses', 'referral c.z; timeout', 'differs'],
  ])('of an activation, when it sees %s', (_, theirs, expected) => {
    expect(word(named(claim(1, 'pending')), SHOWS_A, theirs).word).toBe(expected);
  });

  it.each([
    ['the same', GONE, 'agrees'],
    ['another kind of miss', ELSEWHERE, 'agrees'],
    ['the set', SHOWS_A, 'differs'],
    ['half of the set', 'referral a1.x c.z; referral a1.x c.z', 'differs'],
    ['silence', 'timeout; servfail', 'silent'],
  ])('of a move, when it sees %s', (_, theirs, expected) => {
    expect(word(named(claim(1, 'active', missed)), GONE, theirs).word).toBe(expected);
  });

  it('of a takeover: it has to be heard from every address there too, else it says nothing', () => {
    const taking = { ...claim(2, 'pending'), takeoverSeenAt: NOW - 61_000 };
    const name = named(claim(1, 'active'), taking);
    expect(word(name, SHOWS_B, SHOWS_B).word).toBe('agrees');
    expect(word(name, SHOWS_B, SHOWS_B, { parentAddresses: 4 }).word).toBe('silent');
    expect(word(name, SHOWS_B, SHOWS_A).word).toBe('differs');
  });

  it('the times of its clock count for nothing', () => {
    const name = named(claim(1, 'active', missed));
    expect(word(name, GONE, GONE, { startedAt: 0, finishedAt: NOW - 5 * DAY }).word).toBe('agrees');
    expect(word(name, GONE, GONE, { startedAt: 0, finishedAt: NOW + 50 * DAY }).word).toBe('agrees');
  });

  it('is nothing while the root does not validate there', () => {
    expect(word(named(claim(1, 'active', missed)), GONE, GONE, { rootFault: true }).word).toBe('silent');
  });
});

describe('what the log tells', () => {
  const seen = (said: VantageWord['word'], kind: VantageWord['kind'] = 'delegated'): VantageWord => ({
    word: said,
    kind,
    ns: kind === 'delegated' ? A : [],
  });
  const views = (words: Record<string, VantageWord>) =>
    viewsOf(
      [
        { label: 'ams', vantages: ['a', 'b'] },
        { label: 'fra', vantages: ['c'] },
      ],
      new Map(Object.entries(words)),
    ).map(({ label, word: said, kind }) => `${label} ${said} ${kind}`);

  it('is by voices: what it saw, nothing, or that its vantages do not agree', () => {
    expect(views({ a: seen('agrees'), c: seen('differs', 'unregistered') })).toEqual([
      'ams agrees delegated',
      'fra differs unregistered',
    ]);
    expect(views({})).toEqual(['ams silent nothing', 'fra silent nothing']);
    expect(views({ a: seen('agrees'), b: seen('differs') })).toEqual([
      'ams silent split',
      'fra silent nothing',
    ]);
    expect(views({ a: seen('silent', 'nothing'), b: seen('agrees') })[0]).toBe('ams agrees delegated');
  });
});
