import { describe, expect, it } from 'vitest';
import { type Around, answeredDomain, type NamedDomain } from '../../src/checks/claims/answered.ts';
import { findingsOf } from '../../src/checks/claims/claim-findings.ts';
import { endingInside, type HeldInside } from '../../src/checks/claims/inner-domains.ts';
import {
  type Circumstances,
  claimsWithoutSet,
  type JudgedName,
  judgeName,
} from '../../src/checks/claims/judge-name.ts';
import { mayClaim, type Rival } from '../../src/checks/claims/may-claim.ts';
import { type CheckedClaim, isSameSet, type NameClaims } from '../../src/checks/claims/name-claims.ts';
import { wasHeldByOthers, wasHolder } from '../../src/checks/claims/name-holders.ts';
import { isFollowed, nextTurn, type WaitingClaim } from '../../src/checks/claims/next-turn.ts';
import { claimsToPrepare } from '../../src/checks/claims/prepare.ts';
import { areTooMany, isNewSighting } from '../../src/checks/claims/sightings.ts';
import { nextSweep, type SweptName } from '../../src/checks/claims/sweep.ts';
import { nextTakeoverStep } from '../../src/checks/claims/takeover.ts';
import { turnFinding } from '../../src/checks/claims/turn-finding.ts';
import type { CheckState } from '../../src/checks/delegation/check-state.ts';
import { judgeDelegation } from '../../src/checks/delegation/judge-delegation.ts';
import { nextStatus } from '../../src/checks/delegation/next-status.ts';
import type { Steadiness } from '../../src/checks/delegation/steadiness.ts';
import { parseName } from '../../src/dns/name.ts';
import { evidenceOf, expectedSets, names } from '../support/world/check-evidence.ts';
import {
  claimState,
  DAY,
  madeDomain as domain,
  HOUR,
  madeClaim,
  madeName,
  NOW,
  RULES,
} from '../support/world/made-claims.ts';

describe('claims for a name', () => {
  const MINUTE = 60_000;
  const [A, B, STATIC, OTHER] = [
    names('a1.x b1.y'),
    names('a2.x b2.y'),
    names('s1.z s2.z'),
    names('t1.z t2.z'),
  ];
  const SHOWS_A = 'referral a1.x b1.y; referral a1.x b1.y';
  const SHOWS_B = 'referral a2.x b2.y; referral a2.x b2.y';
  let lastId = 0;
  function claim(status: CheckState['status'], set = A, more: Partial<CheckedClaim> = {}): CheckedClaim {
    lastId++;
    return madeClaim(lastId, claimState(status), [{ names: set, exclusive: set === A || set === B }], more);
  }

  const named = (claims: readonly CheckedClaim[], more: Partial<NameClaims> = {}): NameClaims =>
    madeName(claims, { ours: new Set([A, B, STATIC, OTHER].flat()), staticSetCount: 2, ...more });

  const AROUND: Circumstances = { rules: RULES, isFrozen: false, random: () => 0.5 };
  const judge = (name: NameClaims, said: string, at = NOW, more: Partial<Circumstances> = {}) =>
    judgeName(name, evidenceOf(said, { finishedAt: at }), { ...AROUND, ...more });

  const of = (judged: JudgedName, { id }: CheckedClaim) => {
    const found = judged.claims.find(({ claim }) => claim.id === id);
    if (found === undefined) throw new Error(`no claim ${id}`);
    return found;
  };
  const codes = (judged: JudgedName, one: CheckedClaim) =>
    of(judged, one).decision.findings.map(({ code }) => code);

  describe('claims that wait for a name', () => {
    it('are evaluated with their own sets: the parent proves one of them, and the others continue to wait', () => {
      const [mine, theirs] = [claim('pending', A), claim('pending', B)];
      const judged = judge(named([mine, theirs]), SHOWS_A);
      expect(of(judged, mine).decision.to).toBe('active');
      expect(of(judged, theirs).decision.to).toBe('pending');
      expect(codes(judged, theirs)).toEqual(['PRESET_DELEGATION']);
      expect(judged.sighted).toEqual([...A].sort());
    });

    it('keep the times of their own checks, regardless of the claim that a check was made for', () => {
      const planned = NOW + 3 * HOUR;
      const [young, holder] = [claim('pending', A), claim('active', B, { plannedAt: planned })];
      const at = (now: number, asked: CheckedClaim) => {
        const judged = judge(named([young, holder]), SHOWS_B, now, { asked: asked.id });
        const { nextCheckAt, isOwnTime } = of(judged, holder);
        return [nextCheckAt.at, isOwnTime, of(judged, young).nextCheckAt.at];
      };
      expect(at(NOW, young)).toEqual([planned, false, NOW + MINUTE]);
      expect(at(planned - MINUTE, young)).toEqual([planned, false, planned]);
      expect(at(planned, young)).toEqual([planned + 12 * HOUR, true, planned + MINUTE]);
      expect(at(NOW, holder)).toEqual([NOW + 12 * HOUR, true, NOW + MINUTE]);
    });

    it('are checked sooner if a check for another claim sees a miss', () => {
      const holder = claim('active', B, { plannedAt: NOW + 9 * HOUR });
      const young = claim('pending', A);
      const judged = judge(named([young, holder]), 'nodata; nodata', NOW, { asked: young.id });
      expect(of(judged, holder).nextCheckAt.at).toBe(NOW + HOUR);
    });

    it("postpone each other if they are checked about as often, so that together they cost one claim's checks", () => {
      const waiting = Array.from({ length: 32 }, () => claim('pending', A, { plannedAt: NOW + 20_000 }));
      const circumstances = { asked: waiting[0]?.id as number, random: () => 0 };
      const judged = judge(named(waiting), 'nodata; nodata', NOW, circumstances);
      expect(judged.claims.map(({ nextCheckAt }) => nextCheckAt.at)).toEqual(Array(32).fill(NOW + 48_000));
    });

    it('are open only after a conclusive check that shows none of our nameservers except their own', () => {
      const fresh = claim('pending', A, { state: claimState('pending', { conclusive: undefined }) });
      const openAfter = (said: string, one = fresh) => of(judge(named([one]), said), one).open;
      expect(openAfter('nxdomain; nxdomain')).toBe(true);
      expect(openAfter('referral a1.x; referral a1.x')).toBe(true);
      expect(openAfter(SHOWS_B)).toBe(false);
      expect(openAfter('referral a1.x a2.x; referral a1.x a2.x')).toBe(false);
      expect(openAfter('timeout; timeout')).toBe(false);
      expect(openAfter('nxdomain; timeout', claim('pending', A))).toBe(true);
      expect(openAfter(SHOWS_B, { ...fresh, byOperator: true })).toBe(true);
    });
  });

  describe('a shared set', () => {
    const fresh = (more: Partial<CheckedClaim> = {}) =>
      claim('pending', STATIC, {
        sets: [STATIC, OTHER].map((set) => ({ names: set, exclusive: false })),
        state: claimState('pending', { conclusive: undefined }),
        ...more,
      });

    it('is spent if the first conclusive check shows any of its names, but the next set still proves the claim', () => {
      const one = fresh();
      const judged = judge(named([one]), 'referral s1.z old.x; referral s1.z old.x');
      expect(of(judged, one)).toMatchObject({ setsAfter: [OTHER], decision: { to: 'pending' } });
      const later = claim('pending', OTHER);
      expect(of(judge(named([later]), 'referral t1.z t2.z; referral t1.z t2.z'), later).decision.to).toBe(
        'active',
      );
    });

    it('is also spent by servers that disagree, and by a single address', () => {
      for (const said of ['referral s1.z s2.z; nxdomain', 'referral s1.z s2.z; timeout']) {
        const one = fresh();
        expect(of(judge(named([one]), said), one).setsAfter).toEqual([OTHER]);
      }
    });

    it('is not spent for the last holder, for an operator, or by a later check', () => {
      for (const one of [
        fresh({ wasHolder: true }),
        fresh({ byOperator: true }),
        fresh({ state: claimState('pending') }),
      ])
        expect(of(judge(named([one]), 'referral s1.z s2.z; referral s1.z s2.z'), one)).toMatchObject({
          setsAfter: undefined,
          decision: { to: 'active' },
        });
    });

    it('is spent, unlike an exclusive one', () => {
      const one = claim('pending', A, { state: claimState('pending', { conclusive: undefined }) });
      expect(of(judge(named([one]), SHOWS_A), one)).toMatchObject({
        setsAfter: undefined,
        decision: { to: 'active' },
      });
    });

    it('is spent, if it is the only one, only if another account is involved with the name', () => {
      const only = () => fresh({ sets: [{ names: STATIC, exclusive: false }] });
      const said = 'referral s1.z s2.z; referral s1.z s2.z';
      const alone = only();
      expect(of(judge(named([alone], { staticSetCount: 1 }), said), alone).decision.to).toBe('active');
      for (const more of [{ heldBy: [4711] }, { alsoWaiting: [4711] }]) {
        const one = only();
        const name = named([one], { staticSetCount: 1, ...more });
        expect(claimsWithoutSet(name, evidenceOf(said))).toEqual([one]);
        expect(of(judge(name, said), one)).toMatchObject({ setsAfter: [], decision: { to: 'pending' } });
        expect(codes(judge(name, said), one)).toContain('SETS_SPENT');
      }
    });
  });

  describe('a name that another account holds', () => {
    it('passes to a claim after two checks a minute apart, the second one at every address', () => {
      const [holder, taker] = [claim('active', A), claim('pending', B)];
      const first = judge(named([holder, taker]), SHOWS_B);
      expect(first.isTakeover).toBe(false);
      expect(of(first, taker)).toMatchObject({
        decision: { to: 'pending' },
        takeoverSeenAt: NOW,
        nextCheckAt: { at: NOW + MINUTE },
      });
      expect(codes(first, taker)).toEqual(['NAME_IN_USE', 'TAKEOVER_WAITS']);
      expect(codes(first, holder)).toContain('TAKEOVER_SEEN');

      const seen = { ...taker, takeoverSeenAt: NOW };
      const early = judge(named([holder, seen]), SHOWS_B, NOW + MINUTE - 1);
      expect(early.isTakeover).toBe(false);
      const second = judge(named([holder, seen]), SHOWS_B, NOW + MINUTE);
      expect(second.isTakeover).toBe(true);
      expect(of(second, taker).decision.to).toBe('active');
      expect(of(second, holder).decision).toMatchObject({ to: 'disabled', state: { status: 'ended' } });
      expect(codes(second, holder)).toContain('CLAIM_LOST');
    });

    it.each([
      ['not every address was queried', SHOWS_B, { parentAddresses: 6 }],
      [
        'a server answers for the domain itself',
        'referral a2.x b2.y; answer a2.x b2.y; referral a2.x b2.y',
        {},
      ],
      ['only one address shows it', 'referral a2.x b2.y; timeout', {}],
      ['there is a DS', 'referral a2.x b2.y +ds; referral a2.x b2.y +ds', {}],
    ])('does not pass while %s', (_, said, more) => {
      const [holder, taker] = [claim('active', A), claim('pending', B, { takeoverSeenAt: NOW - HOUR })];
      const evidence = evidenceOf(said, { finishedAt: NOW, ...more });
      const judged = judgeName(named([holder, taker]), evidence, AROUND);
      expect(judged.isTakeover).toBe(false);
      expect(of(judged, holder).decision.to).toBe('active');
    });

    it('does not pass while the breaker holds moves, nor within six hours after four changes in a day', () => {
      const [holder, taker] = [claim('active', A), claim('pending', B, { takeoverSeenAt: NOW - HOUR })];
      expect(judge(named([holder, taker]), SHOWS_B, NOW, { isFrozen: true }).isTakeover).toBe(false);
      const often = named([holder, taker], { takeovers: [1, 2, 3, 4].map((hours) => NOW - hours * HOUR) });
      expect(judge(often, SHOWS_B).isTakeover).toBe(false);
      expect(judge(often, SHOWS_B, NOW + 5 * HOUR).isTakeover).toBe(true);
    });

    it('loses its first observation if the set disappears, and keeps it while checks see nothing', () => {
      const [holder, taker] = [claim('active', A), claim('pending', B, { takeoverSeenAt: NOW - HOUR })];
      expect(of(judge(named([holder, taker]), SHOWS_A), taker).takeoverSeenAt).toBeUndefined();
      expect(of(judge(named([holder, taker]), 'timeout; timeout'), taker).takeoverSeenAt).toBe(NOW - HOUR);
    });

    it('in external mode also passes', () => {
      const taker = claim('pending', B, { takeoverSeenAt: NOW - HOUR });
      const name = named([taker], { externalHolder: { id: 4711, accountId: 4711 } });
      expect(judge(name, SHOWS_B)).toMatchObject({ isTakeover: true, lostExternal: 4711 });
    });

    it('stays with a holder whose delegation lapses, regardless of how long the claim waits', () => {
      const [holder, taker] = [claim('moved', A), claim('pending', B)];
      const judged = judge(named([holder, taker]), 'nxdomain; nxdomain');
      expect(judged.isTakeover).toBe(false);
      expect(of(judged, holder).decision.to).toBe('moved');
    });
  });

  describe('a domain that the checker disabled', () => {
    it('returns to pending if its exclusive set is seen', () => {
      const ended = claim('ended', A);
      const judged = judge(named([ended]), SHOWS_A);
      expect(of(judged, ended).decision).toMatchObject({ to: 'pending', state: { conclusive: undefined } });
      expect(codes(judged, ended)).toEqual(['CAME_BACK']);
    });

    it("stays disabled if a shared set or another account's set is seen", () => {
      const ended = claim('ended', STATIC);
      expect(of(judge(named([ended]), 'referral s1.z s2.z; referral s1.z s2.z'), ended).decision.to).toBe(
        'ended',
      );
      const other = claim('ended', A);
      expect(of(judge(named([other]), SHOWS_B), other).decision.to).toBe('ended');
    });
  });
});

const answered = (domains: readonly NamedDomain[], more: Partial<Around> = {}) =>
  answeredDomain(domains, { turn: undefined, enclosing: 'none', sightedRights: [], ...more });

it('a name that an account holds is answered completely, regardless of waiting claims and of the zone above', () => {
  const held = [domain(1, 'waiting'), domain(2, 'holding')];
  expect(answered(held, { turn: 1, enclosing: 'full' })).toEqual({ id: 2, served: 'full' });
});

describe('a name without a holder', () => {
  it('is answered completely for an open claim that is alone', () => {
    expect(answered([domain(1, 'waiting'), domain(2, 'off')])).toEqual({ id: 1, served: 'full' });
  });

  it.each([
    ['it is not open', [domain(1, 'waiting', { open: false })], {}],
    ['other nameservers of the fleet were seen here', [domain(1, 'waiting', { othersSighted: true })], {}],
    ['another claim waits', [domain(1, 'waiting'), domain(2, 'waiting')], {}],
    ['another claim waits in external mode', [domain(1, 'waiting'), domain(2, 'unverified')], {}],
    ['another account holds it elsewhere', [domain(1, 'waiting'), domain(2, 'holdingElsewhere')], {}],
    ['another account has the right to a set seen here', [domain(1, 'waiting')], { sightedRights: [1, 7] }],
    ["other accounts' claims are around it", [domain(1, 'waiting')], { enclosing: 'apex' as const }],
  ])('is answered only at its apex if %s', (_, domains, around) => {
    expect(answered(domains, around)).toEqual({ id: 1, served: 'apex' });
  });

  it('is answered for the claim that has the turn', () => {
    const waiting = [domain(1, 'waiting'), domain(2, 'waiting'), domain(3, 'waiting')];
    expect(answered(waiting, { turn: 3 })?.id).toBe(3);
  });

  const approved = domain(1, 'waiting', { isApproved: true });
  it.each([
    ['another claim waits', [domain(2, 'waiting'), approved], { turn: 2 }],
    ['another claim waits in external mode', [approved, domain(2, 'unverified')], {}],
  ])('is answered completely for an approved claim although %s', (_, domains, around) => {
    expect(answered(domains, around)).toEqual({ id: 1, served: 'full' });
  });

  it.each([
    ['another account has the right to a set seen here', [approved], { sightedRights: [7] }],
    ['another account holds it elsewhere', [approved, domain(2, 'holdingElsewhere')], {}],
    ['two claims are approved', [approved, domain(2, 'waiting', { isApproved: true })], {}],
  ])('is answered only at its apex for an approved claim if %s', (_, domains, around) => {
    expect(answered(domains, around)).toEqual({ id: 1, served: 'apex' });
  });

  it('is answered for a claim with a TXT record rather than for an approved one', () => {
    const proven = domain(2, 'waiting', { hasTxt: true });
    expect(answered([approved, proven], { turn: 2 })).toEqual({ id: 2, served: 'full' });
  });

  it('is not answered for an approved claim inside a zone that is answered completely', () => {
    expect(answered([approved], { enclosing: 'full' })).toBeUndefined();
  });

  it('is not answered inside a zone that is answered completely, nor without a managed claim', () => {
    expect(answered([domain(1, 'waiting')], { enclosing: 'full' })).toBeUndefined();
    expect(answered([domain(1, 'unverified'), domain(2, 'off')])).toBeUndefined();
  });
});

describe('the findings of a claim', () => {
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

  it("the fleet's nameservers that are not the claim's cause a single finding with all changes", () => {
    expect(codes('referral ns1.b ns2.b')).toEqual(['PRESET_DELEGATION']);
    expect(codes('referral ns1.a ns1.b old.x')).toEqual(['PRESET_DELEGATION']);
    expect(codes('referral old.x')).toEqual(['NS_FOREIGN']);
    expect(codes('referral ns1.a')).toEqual(['NS_MISSING']);
  });

  it('a held name, spent sets and the end of the waiting time are reported in addition to the delegation', () => {
    expect(codes('nxdomain', { isHeld: true })).toEqual(['NOT_REGISTERED', 'NAME_IN_USE']);
    expect(codes('nodata', { sets: [] })).toEqual(['NOT_DELEGATED', 'SETS_SPENT']);
    expect(codes('nodata', { ageMs: 28 * DAY })).toEqual(['NOT_DELEGATED', 'PENDING_OVER']);
  });

  it('frequent changes of the delegation are reported for waiting and for active domains', () => {
    const steadiness = { seen: 1, changedAt: [-3, -2, -1] };
    expect(codes('referral old.x', { steadiness })).toEqual(['NS_FOREIGN', 'NS_UNSTEADY']);
    expect(codes('referral ns1.a ns2.a', { steadiness, status: 'active' })).toEqual(['NS_UNSTEADY']);
  });

  it('a claim lists the domains inside it that would end, until it is proven', () => {
    const inner = [{ name: names('in.shop.com')[0] as never, ns: OTHER }];
    expect(codes('referral old.x', { inner })).toEqual(['NS_FOREIGN', 'INNER_DELEGATED']);
    expect(codes('referral ns1.a ns2.a', { inner })).toEqual([]);
  });
});

const held = (name: string, accountId = 2): HeldInside => ({
  name: parseName(name),
  ns: names('ns1.a ns2.a'),
  accountId,
});
const ending = (inside: readonly HeldInside[], delegated = '') =>
  endingInside(1, inside, names(delegated)).map(({ name }) => name);

it("other accounts' domains inside end, those of the same account continue", () => {
  expect(ending([held('a.shop.com.'), held('b.shop.com.', 1)])).toEqual(names('a.shop.com'));
});

it('a delegation at the name or above it keeps a domain, one below it or next to it does not', () => {
  const inside = [held('x.a.shop.com.')];
  expect(ending(inside, 'x.a.shop.com')).toEqual([]);
  expect(ending(inside, 'a.shop.com')).toEqual([]);
  expect(ending(inside, 'y.x.a.shop.com')).toEqual(names('x.a.shop.com'));
  expect(ending(inside, 'xa.shop.com ba.shop.com')).toEqual(names('x.a.shop.com'));
});

it('at most nine inner domains are returned, enough to report that there are more than eight', () => {
  expect(ending(Array.from({ length: 300 }, (_, i) => held(`n${i}.shop.com.`)))).toHaveLength(9);
});

const rival = (id: number, stage: Rival['stage'], more: Partial<Rival> = {}): Rival => ({
  id,
  accountId: id,
  stage,
  isNameBanned: false,
  claimedAt: NOW - 48 * HOUR + id,
  isShown: false,
  ...more,
});
const ask = { accountId: 1000, transfer: false, needsPlace: true, at: NOW };
const crowd = (more: Partial<Rival> = {}) =>
  Array.from({ length: 32 }, (_, i) => rival(i + 1, 'waiting', more));

describe('a claim', () => {
  it('is allowed next to 31 others that wait, and next to domains that are off', () => {
    expect(mayClaim(crowd().slice(1), ask)).toEqual({ kind: 'yes', displaced: undefined });
    expect(mayClaim([rival(1, 'off')], ask).kind).toBe('yes');
  });

  it('needs `transfer` if another account holds the name', () => {
    expect(mayClaim([rival(1, 'held')], ask).kind).toBe('held');
    expect(mayClaim([rival(1, 'held')], { ...ask, transfer: true }).kind).toBe('yes');
  });

  it('is limited to one per account, and refused for a banned name', () => {
    expect(mayClaim([rival(1, 'off', { accountId: 1000 })], ask).kind).toBe('own');
    expect(mayClaim([rival(1, 'off', { isNameBanned: true })], { ...ask, transfer: true }).kind).toBe(
      'banned',
    );
  });

  it('replaces the oldest one that waited a day without its set at the parent', () => {
    expect(mayClaim(crowd(), ask)).toEqual({ kind: 'yes', displaced: 1 });
    const shown = crowd().map((one) => (one.id < 5 ? { ...one, isShown: true } : one));
    expect(mayClaim(shown, ask)).toEqual({ kind: 'yes', displaced: 5 });
  });

  it('otherwise waits for a slot, unless an operator makes it', () => {
    const young = crowd({ claimedAt: NOW - 23 * HOUR });
    expect(mayClaim(young, ask)).toEqual({ kind: 'full', retryAfterSeconds: 3600 });
    expect(mayClaim(young, { ...ask, needsPlace: false })).toEqual({ kind: 'yes', displaced: undefined });
    expect(mayClaim(crowd({ isShown: true }), ask)).toEqual({ kind: 'full', retryAfterSeconds: 1 });
  });
});

it('two sets are equal if they have the same names in any order', () => {
  expect(isSameSet(names('ns1.a ns2.a'), names('ns2.a ns1.a'))).toBe(true);
  expect(isSameSet(names('ns1.a ns2.a'), names('ns1.a'))).toBe(false);
  expect(isSameSet(names('ns1.a'), names('ns1.a ns2.a'))).toBe(false);
});

it('the account that held the name is exempt for 90 days, and stored for two years', () => {
  const holders = [{ accountId: 1, activeAt: NOW - 90 * DAY + 1 }];
  expect(wasHolder(holders, 1, NOW)).toBe(true);
  expect(wasHolder(holders, 1, NOW + 1)).toBe(false);
  expect(wasHolder(holders, 2, NOW)).toBe(false);
  expect(wasHeldByOthers(holders, 1, NOW)).toBe(false);
  expect(wasHeldByOthers(holders, 2, NOW + 639 * DAY)).toBe(true);
  expect(wasHeldByOthers(holders, 2, NOW + 641 * DAY)).toBe(false);
});

describe('a turn', () => {
  const TURN_MS = 15 * 60_000;
  const claim = (id: number, more: Partial<WaitingClaim> = {}): WaitingClaim => ({
    id,
    hasTxt: false,
    askedAt: undefined,
    turn: undefined,
    ...more,
  });
  const now = { from: NOW - 1000, until: NOW + 1000 };
  const over = { from: NOW - TURN_MS, until: NOW };

  it('continues regardless of new requests', () => {
    const claims = [claim(1, { turn: now }), claim(2, { askedAt: NOW - 5000 })];
    expect(nextTurn(claims, NOW)).toEqual({ id: 1, turn: now, isNew: false });
  });

  it('passes to the first request when it ends, but to claims with the TXT value before others', () => {
    const claims = [claim(1, { turn: over }), claim(2, { askedAt: NOW - 5 }), claim(3, { askedAt: NOW - 9 })];
    expect(nextTurn(claims, NOW)).toEqual({ id: 3, turn: { from: NOW, until: NOW + TURN_MS }, isNew: true });
    expect(nextTurn([...claims, claim(4, { askedAt: NOW - 1, hasTxt: true })], NOW)?.id).toBe(4);
  });

  it('stays with the last claim without further requests', () => {
    expect(nextTurn([claim(1, { turn: over }), claim(2)], NOW)).toEqual({ id: 1, turn: over, isNew: false });
  });

  it('returns to a claim with the TXT value, the only one answered completely, without further requests', () => {
    const ours = claim(2, { hasTxt: true, turn: { from: NOW - 2 * TURN_MS, until: NOW - TURN_MS } });
    expect(nextTurn([claim(1, { turn: over }), ours], NOW)).toMatchObject({ id: 2, isNew: true });
    expect(nextTurn([claim(1, { turn: over }), claim(2, { hasTxt: true })], NOW)?.id).toBe(2);
    expect(nextTurn([claim(1, { turn: now }), ours], NOW)?.id).toBe(1);
    expect(nextTurn([claim(1, { turn: over, askedAt: NOW }), ours], NOW)?.id).toBe(1);
    const both = [claim(1, { hasTxt: true, turn: over }), ours];
    expect(nextTurn(both, NOW)).toEqual({ id: 1, turn: over, isNew: false });
  });

  it('goes to a claim that has waited for an hour after one with the TXT value, regardless of how many have it', () => {
    const txt = (id: number) => claim(id, { hasTxt: true, askedAt: NOW - 2 * TURN_MS });
    const patient = claim(9, { askedAt: NOW - 4 * TURN_MS });
    const last = (hasTxt: boolean) => claim(1, { hasTxt, turn: over });
    expect(nextTurn([last(true), txt(2), txt(3), patient], NOW)?.id).toBe(9);
    expect(nextTurn([last(false), txt(2), txt(3), patient], NOW)?.id).toBe(2);
    const fresh = claim(9, { askedAt: NOW - 4 * TURN_MS + 1 });
    expect(nextTurn([last(true), txt(2), txt(3), fresh], NOW)?.id).toBe(2);
  });

  it('is followed by another if there is a request, or if a claim without the TXT value has it before one with it', () => {
    const ours = claim(2, { hasTxt: true });
    expect(isFollowed([claim(1, { turn: now }), claim(3)])).toBe(false);
    expect(isFollowed([claim(1, { turn: now }), claim(3, { askedAt: NOW })])).toBe(true);
    expect(isFollowed([claim(1, { turn: now }), ours])).toBe(true);
    expect(isFollowed([claim(1), { ...ours, turn: now }])).toBe(false);
  });

  it('begins for a claim that requests it again, and for the first of claims that never did', () => {
    expect(nextTurn([claim(1, { turn: over, askedAt: NOW })], NOW)).toMatchObject({ id: 1, isNew: true });
    expect(nextTurn([claim(1), claim(2)], NOW)).toMatchObject({ id: 1, isNew: true });
    expect(nextTurn([], NOW)).toBeUndefined();
  });
});

type Enclosing = 'full' | 'apex' | 'none';
const prepared = (
  domains: readonly NamedDomain[],
  rights: readonly number[] = [],
  enclosing: Enclosing = 'none',
) => claimsToPrepare(domains, rights, () => enclosing);

// biome-ignore format: a table
const CASES: [string, readonly NamedDomain[], readonly number[], readonly number[]][] = [
  ['a single claim is not prepared: all its records are served already', [domain(1, 'waiting'), domain(2, 'off')],                       [],  []],
  ['every one of several claims is prepared',                            [domain(1, 'waiting'), domain(2, 'waiting')],                   [],  [1, 2]],
  ['a claim that has the record is still prepared',                      [domain(1, 'waiting', { hasTxt: true }), domain(2, 'waiting')], [],  [1, 2]],
  ['a claim next to one in external mode is prepared',                   [domain(1, 'waiting'), domain(2, 'unverified')],                [],  [1]],
  ['a claim on a name that is proved elsewhere is prepared',             [domain(1, 'waiting'), domain(2, 'holdingElsewhere')],          [],  [1]],
  ['a claim is prepared if other fleet nameservers were seen before',    [domain(1, 'waiting', { othersSighted: true })],                [],  [1]],
  ['a claim is prepared if another account’s set was seen',              [domain(1, 'waiting')],                                         [7], [1]],
  ['no claim is prepared on a name that is held here',                   [domain(1, 'waiting'), domain(2, 'holding')],                   [],  []],
];

it.each(CASES)('%s', (_, domains, rights, expected) => {
  expect(prepared(domains, rights)).toEqual(expected);
});

it("no claim is prepared inside another account's zone, where the record has no effect", () => {
  const two = [domain(1, 'waiting'), domain(2, 'waiting')];
  expect(prepared(two, [], 'full')).toEqual([]);
  expect(prepared(two, [], 'apex')).toEqual([]);
  expect(claimsToPrepare(two, [], (account) => (account === 1 ? 'none' : 'full'))).toEqual([1]);
});

it('names that were not seen together before are written, and the same names again once a week', () => {
  const known = [{ names: ['a.', 'b.'], lastSeenAt: NOW - 7 * DAY }];
  expect(isNewSighting(known, ['a.'], NOW)).toBe(true);
  expect(isNewSighting(known, ['a.', 'b.'], NOW)).toBe(false);
  expect(isNewSighting(known, ['a.', 'b.'], NOW + 1)).toBe(true);
  expect(isNewSighting(known, [], NOW)).toBe(false);
});

it('a registry that keeps showing different names cannot fill the table: after 64 nothing new is written', () => {
  const known = Array.from({ length: 64 }, (_, i) => ({ names: [`n${i}.`], lastSeenAt: NOW }));
  expect([areTooMany(known), isNewSighting(known, ['x.'], NOW)]).toEqual([false, true]);
  const more = [...known, { names: ['x.'], lastSeenAt: NOW }];
  expect([areTooMany(more), isNewSighting(more, ['y.'], NOW)]).toEqual([true, false]);
});

const END = 1_800_000_000_000;
const next = (days: number, shown: boolean | undefined, isShown = true) => {
  const name: SweptName = { endedAt: END, isShown };
  const found = nextSweep(name, shown, END + days * DAY, 0.5);
  return found && { days: (found.at - END) / DAY - days, isShown: found.isShown };
};

it('a name is checked daily for 90 days, regardless of the result', () => {
  expect(next(1, false)).toEqual({ days: 1, isShown: false });
  expect(next(89.9, false, false)).toEqual({ days: 1, isShown: false });
  expect(next(10, true)).toEqual({ days: 1, isShown: true });
});

it('afterwards it is checked weekly while the parent shows one of our nameservers, and otherwise no longer', () => {
  expect(next(90, true)).toEqual({ days: 7, isShown: true });
  expect(next(90, false)).toBeUndefined();
  expect(next(700, true, false)).toEqual({ days: 7, isShown: true });
});

it('an inconclusive check changes nothing', () => {
  expect(next(90, undefined)).toEqual({ days: 7, isShown: true });
  expect(next(90, undefined, false)).toBeUndefined();
  expect(next(5, undefined, false)).toEqual({ days: 1, isShown: false });
});

it('checks are spread by a fifth, so that names that ended together separate', () => {
  const at = (random: number) => nextSweep({ endedAt: END, isShown: true }, true, END, random)?.at;
  expect([at(0), at(1)]).toEqual([END + 0.8 * DAY, END + 1.2 * DAY]);
});

const EXPECTED = expectedSets('ns1.a ns2.a');
const CALM = { takeovers: [], isFrozen: false };

function step(said: string, since: number | undefined, more: { parentAddresses?: number } = {}) {
  const evidence = evidenceOf(said, { finishedAt: NOW, ...more });
  return nextTakeoverStep({ ...CALM, since }, evidence, judgeDelegation(evidence, EXPECTED));
}

it('the second check queries as many addresses as the parent has, up to six', () => {
  const six = Array(6).fill('referral ns1.a ns2.a').join('; ');
  expect(step(six, NOW - 60_000, { parentAddresses: 13 }).kind).toBe('taken');
  const five = Array(5).fill('referral ns1.a ns2.a').join('; ');
  expect(step(five, NOW - 60_000, { parentAddresses: 13 })).toEqual({
    kind: 'seen',
    since: NOW - 60_000,
    nextAt: NOW + 60_000,
  });
});

it('our own zone above the name is sufficient evidence', () => {
  expect(step('database ns1.a ns2.a', NOW - 60_000).kind).toBe('taken');
});

it('if the clock went back, the wait starts again', () => {
  expect(step('referral ns1.a ns2.a; referral ns1.a ns2.a', NOW + 5000)).toMatchObject({
    kind: 'seen',
    since: NOW,
  });
});

const FROM = Date.parse('2026-11-23T14:05:00Z');
const turn = { from: FROM, until: FROM + 15 * 60_000 };

it('a turn finding shows the times of the current turn, even to a claim that waits for another one', () => {
  for (const hasAsked of [false, true])
    expect(turnFinding({ turn, hasAsked }, FROM).message).toContain('from 14:05 to 14:20 UTC');
});

it('a turn finding shows whether the claim waits for a turn, before and after its turn', () => {
  expect(turnFinding({ turn: undefined, hasAsked: true }, FROM).message).toContain('are in line');
  expect(turnFinding({ turn, hasAsked: true }, turn.until).message).toContain('are in line');
  const none = turnFinding({ turn, hasAsked: false }, turn.until).message;
  expect(none).not.toContain('14:05');
  expect(none).toContain('request a turn');
});

it('a turn finding mentions another account, but not which one or how many', () => {
  for (const hasAsked of [false, true])
    expect(turnFinding({ turn: undefined, hasAsked }, FROM).message).toMatch(/Another account waits/);
});
