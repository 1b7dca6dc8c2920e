import { describe, expect, it } from 'vitest';
import { type Circumstances, judgeName } from '../../src/checks/claims/judge-name.ts';
import type { CheckedClaim, NameClaims } from '../../src/checks/claims/name-claims.ts';
import type { CheckState } from '../../src/checks/delegation/check-state.ts';
import type { Evidence } from '../../src/checks/delegation/evidence.ts';
import {
  changesOf,
  giveUnheldName,
  judgeElsewhere,
  type VantageWord,
  viewsOf,
} from '../../src/checks/vantage/judge-change.ts';
import { type Answer, judgeVoices, wordOf } from '../../src/checks/vantage/judge-voices.ts';
import { areAsked, inForce, type Vantage, type Voice, voicesOf } from '../../src/checks/vantage/voices.ts';
import { evidenceOf, names } from '../support/world/check-evidence.ts';
import { claimState, DAY, HOUR, madeClaim, madeName, NOW, RULES } from '../support/world/made-claims.ts';

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

describe('the change of a check', () => {
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
    // these end only by time
    ['leaving', days(15), ELSEWHERE, []],
    ['pending', { ...days(91), conclusive: undefined }, 'timeout; timeout', []],
  ])('for a claim that is %s (%j) and %s is %j', (status, more, said, expected) => {
    expect(told(named(claim(1, status, more)), here(said))).toEqual(expected);
  });

  it('is a takeover at its second check: the winner and the loser', () => {
    const taking = { ...claim(2, 'pending'), takeoverSeenAt: NOW - 61_000 };
    expect(told(named(claim(1, 'active'), claim(2, 'pending')), here(SHOWS_B))).toEqual([]);
    expect(told(named(claim(1, 'active'), taking), here(SHOWS_B))).toEqual(['1 disabled', '2 active']);
  });

  it('assigns an unheld name only if no account loses anything', () => {
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

describe('the answer of a vantage point', () => {
  it.each([
    ['the same', SHOWS_A, 'agrees'],
    ['another set', SHOWS_B, 'differs'],
    ['nothing', GONE, 'differs'],
    ['other names', ELSEWHERE, 'differs'],
    ['a stale DS', 'referral a1.x b1.y +ds; referral a1.x b1.y +ds', 'differs'],
    ['silence', 'timeout; timeout', 'silent'],
    ['contradictions', 'referral a1.x b1.y; referral c.z', 'silent'],
    ['one of two addresses', 'referral c.z; timeout', 'differs'],
  ])('about an activation, if it sees %s', (_, theirs, expected) => {
    expect(word(named(claim(1, 'pending')), SHOWS_A, theirs).word).toBe(expected);
  });

  it.each([
    ['the same', GONE, 'agrees'],
    ['another kind of miss', ELSEWHERE, 'agrees'],
    ['the set', SHOWS_A, 'differs'],
    ['half of the set', 'referral a1.x c.z; referral a1.x c.z', 'differs'],
    ['silence', 'timeout; servfail', 'silent'],
  ])('about a move, if it sees %s', (_, theirs, expected) => {
    expect(word(named(claim(1, 'active', missed)), GONE, theirs).word).toBe(expected);
  });

  it('about a takeover needs every address there too, otherwise it is silent', () => {
    const taking = { ...claim(2, 'pending'), takeoverSeenAt: NOW - 61_000 };
    const name = named(claim(1, 'active'), taking);
    expect(word(name, SHOWS_B, SHOWS_B).word).toBe('agrees');
    expect(word(name, SHOWS_B, SHOWS_B, { parentAddresses: 4 }).word).toBe('silent');
    expect(word(name, SHOWS_B, SHOWS_A).word).toBe('differs');
  });

  it('ignores the times of its clock', () => {
    const name = named(claim(1, 'active', missed));
    expect(word(name, GONE, GONE, { startedAt: 0, finishedAt: NOW - 5 * DAY }).word).toBe('agrees');
    expect(word(name, GONE, GONE, { startedAt: 0, finishedAt: NOW + 50 * DAY }).word).toBe('agrees');
  });

  it('is silent while the root does not validate there', () => {
    expect(word(named(claim(1, 'active', missed)), GONE, GONE, { rootFault: true }).word).toBe('silent');
  });
});

describe('the log of observers', () => {
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

  it('lists voices: what each saw, nothing, or that its vantage points disagree', () => {
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

const WORDS = ['agrees', 'differs', 'silent'] as const;
const ALL: readonly Answer[] = [...WORDS, 'open'];

const voicesOfOne = (count: number): Voice[] =>
  Array.from({ length: count }, (_, i) => ({ label: `n${i}`, vantages: [`v${i}`] }));
const judge = (answers: readonly Answer[], isUnheld: boolean) =>
  judgeVoices(voicesOfOne(answers.length), new Map(answers.map((answer, i) => [`v${i}`, answer])), {
    isUnheld,
  });
const count = (answers: readonly Answer[], wanted: Answer) =>
  answers.filter((answer) => answer === wanted).length;

function* products<T>(items: readonly T[], length: number): Generator<T[]> {
  if (length === 0) return yield [];
  for (const rest of products(items, length - 1)) for (const item of items) yield [...rest, item];
}

describe('every answer of up to five voices', () => {
  it.each([
    false,
    true,
  ])('needs all that answered except one, and at least two; an unheld name (%s) needs one if others are unavailable', (isUnheld) => {
    for (let size = 0; size <= 5; size++) {
      for (const answers of products(WORDS, size)) {
        const agree = count(answers, 'agrees');
        const answered = size - count(answers, 'silent');
        const many = agree >= 2 && agree >= answered - 1;
        const alone = isUnheld && answered === 1 && agree === 1;
        const expected = many || alone ? 'agreed' : agree < answered ? 'differ' : 'away';
        expect([answers, judge(answers, isUnheld)]).toEqual([answers, expected]);
      }
    }
  });

  it.each([false, true])('is decided as soon as no missing answer can change it (unheld: %s)', (isUnheld) => {
    for (let size = 1; size <= 4; size++) {
      for (const answers of products(ALL, size)) {
        const ends = new Set<boolean>();
        for (const late of products(WORDS, count(answers, 'open'))) {
          const filled = answers.map((answer) => (answer === 'open' ? (late.pop() as Answer) : answer));
          ends.add(judge(filled, isUnheld) === 'agreed');
        }
        const judged = judge(answers, isUnheld);
        expect([answers, judged === 'open']).toEqual([answers, ends.size === 2]);
        if (judged !== 'open') expect([answers, judged === 'agreed']).toEqual([answers, ends.has(true)]);
      }
    }
  });
});

describe('a voice with many vantage points', () => {
  it('has one answer, and none if its vantage points disagree', () => {
    expect(wordOf(['agrees', 'agrees', 'silent'])).toBe('agrees');
    expect(wordOf(['agrees', 'differs', 'agrees'])).toBe('silent');
    expect(wordOf(['differs', 'silent'])).toBe('differs');
    expect(wordOf(['silent', 'silent'])).toBe('silent');
    expect(wordOf([])).toBe('silent');
  });

  it('counts once, regardless of the number of its vantage points', () => {
    const many: Voice = { label: 'ams', vantages: ['a', 'b', 'c', 'd'] };
    const one: Voice = { label: 'fra', vantages: ['e'] };
    const answers = (of: Record<string, Answer>) => new Map(Object.entries(of));
    const word = (of: Record<string, Answer>, isUnheld = false) =>
      judgeVoices([many, one], answers(of), { isUnheld });
    const all = { a: 'agrees', b: 'agrees', c: 'agrees', d: 'agrees' } as const;
    expect(word(all)).toBe('away');
    expect(word({ ...all, e: 'agrees' })).toBe('agreed');
    expect(word({ ...all, e: 'differs' })).toBe('differ');
    expect(word({ ...all, d: 'differs', e: 'agrees' })).toBe('away');
    expect(word({ ...all, d: 'differs', e: 'agrees' }, true)).toBe('agreed');
    expect(word({ ...all, d: 'open', e: 'agrees' })).toBe('open');
    expect(word({ ...all, d: 'open', e: 'silent' })).toBe('away');
  });

  it.each([
    false,
    true,
  ])('is open while one of its vantage points may still contradict the others (unheld: %s)', (isUnheld) => {
    for (const said of products(ALL, 3)) {
      const voice: Voice = { label: 'ams', vantages: ['v0', 'v1', 'v2'] };
      const other: Voice = { label: 'fra', vantages: ['w'] };
      const answersOf = (of: readonly Answer[]) =>
        new Map<string, Answer>([
          ...of.map((answer, i): [string, Answer] => [`v${i}`, answer]),
          ['w', 'agrees'],
        ]);
      const ends = new Set<string>();
      for (const late of products(WORDS, count(said, 'open'))) {
        const filled = said.map((answer) => (answer === 'open' ? (late.pop() as Answer) : answer));
        ends.add(String(judgeVoices([voice, other], answersOf(filled), { isUnheld }) === 'agreed'));
      }
      const judged = judgeVoices([voice, other], answersOf(said), { isUnheld });
      expect([said, judged === 'open']).toEqual([said, ends.size === 2]);
    }
  });
});

const vantage = (name: string, network: string, address?: string): Vantage => ({ name, network, address });
const voices = (vantages: readonly Vantage[], asnOf?: (address: string) => number | undefined) =>
  voicesOf(vantages, asnOf).map(({ label, vantages: members }) => `${label}: ${members.join(' ')}`);

describe('vantage points form voices', () => {
  it('by label, in the order of the labels', () => {
    expect(voices([vantage('c', 'fra'), vantage('a', 'ams'), vantage('b', 'fra')])).toEqual([
      'ams: a',
      'fra: b c',
    ]);
    expect(voices([])).toEqual([]);
  });

  it.each([
    ['192.0.2.1', '192.0.2.254', 1],
    ['192.0.2.1', '192.0.3.1', 2],
    ['2001:db8:1::1', '2001:db8:1:ffff::1', 1],
    ['2001:db8:1::1', '2001:db8:2::1', 2],
    ['192.0.2.1', '2001:db8:1::1', 2],
  ])('%s and %s are %i', (a, b, count) => {
    expect(voices([vantage('a', 'ams', a), vantage('b', 'fra', b)])).toHaveLength(count);
  });

  it('by autonomous system, if these are known', () => {
    const asnOf = (address: string) => (address.startsWith('192.') ? 64496 : undefined);
    const all = [
      vantage('a', 'ams', '192.0.2.1'),
      vantage('b', 'fra', '192.0.9.1'),
      vantage('c', 'lon', '198.51.100.1'),
      vantage('d', 'par', '203.0.113.1'),
    ];
    expect(voices(all, asnOf)).toEqual(['ams+fra: a b', 'lon: c', 'par: d']);
    expect(voices(all)).toHaveLength(4);
  });

  it('transitively, if one of them joins two others, in any order', () => {
    const all = [
      vantage('a', 'ams', '192.0.2.1'),
      vantage('b', 'fra', '198.51.100.1'),
      vantage('c', 'ams', '198.51.100.9'),
    ];
    for (const order of [all, all.toReversed(), [all[2], all[0], all[1]] as Vantage[]])
      expect(voices(order)).toEqual(['ams+fra: a b c']);
  });
});

it('a vantage point is in force from its first request on, even if it is unavailable later', () => {
  const setUp = (name: string, seenAt: Date | null) => ({ name, network: name, address: null, seenAt });
  const all = [setUp('a', new Date(0)), setUp('b', null)];
  expect(inForce(all)).toEqual([{ name: 'a', network: 'a', address: undefined }]);
  expect(areAsked(inForce(all))).toBe(false);
  expect(areAsked(inForce([setUp('a', new Date(0)), setUp('b', new Date(0))]))).toBe(true);
});

it("voices are consulted from two networks on, even if one appears to be in the other's network", () => {
  expect(areAsked([])).toBe(false);
  expect(areAsked([vantage('a', 'ams'), vantage('b', 'ams')])).toBe(false);
  expect(areAsked([vantage('a', 'ams', '192.0.2.1'), vantage('b', 'fra', '192.0.2.2')])).toBe(true);
});
