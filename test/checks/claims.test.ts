import { describe, expect, it } from 'vitest';
import {
  type Circumstances,
  claimsWithoutSet,
  type JudgedName,
  judgeName,
} from '../../src/checks/claims/judge-name.ts';
import type { CheckedClaim, NameClaims } from '../../src/checks/claims/name-claims.ts';
import type { CheckState } from '../../src/checks/delegation/check-state.ts';
import { evidenceOf, names } from '../support/world/check-evidence.ts';
import { claimState, HOUR, madeClaim, madeName, NOW, RULES } from '../support/world/made-claims.ts';

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
  it('are judged by their own sets: the parent’s word proves one of them, and the others go on waiting', () => {
    const [mine, theirs] = [claim('pending', A), claim('pending', B)];
    const judged = judge(named([mine, theirs]), SHOWS_A);
    expect(of(judged, mine).decision.to).toBe('active');
    expect(of(judged, theirs).decision.to).toBe('pending');
    expect(codes(judged, theirs)).toEqual(['PRESET_DELEGATION']);
    expect(judged.sighted).toEqual([...A].sort());
  });

  it('keep the times of their own checks, whichever of them a check was made for', () => {
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

  it('have their own check sooner when a check for another claim sees a miss', () => {
    const holder = claim('active', B, { plannedAt: NOW + 9 * HOUR });
    const young = claim('pending', A);
    const judged = judge(named([young, holder]), 'nodata; nodata', NOW, { asked: young.id });
    expect(of(judged, holder).nextCheckAt.at).toBe(NOW + HOUR);
  });

  it('put each other off where they are checked about as often: together they cost the checks of one', () => {
    const waiting = Array.from({ length: 32 }, () => claim('pending', A, { plannedAt: NOW + 20_000 }));
    const circumstances = { asked: waiting[0]?.id as number, random: () => 0 };
    const judged = judge(named(waiting), 'nodata; nodata', NOW, circumstances);
    expect(judged.claims.map(({ nextCheckAt }) => nextCheckAt.at)).toEqual(Array(32).fill(NOW + 48_000));
  });

  it('are open only after a conclusive check that shows no names of ours but their own', () => {
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

  it('is spent when the first conclusive check shows any of its names, and the next one still proves', () => {
    const one = fresh();
    const judged = judge(named([one]), 'referral s1.z old.x; referral s1.z old.x');
    expect(of(judged, one)).toMatchObject({ setsAfter: [OTHER], decision: { to: 'pending' } });
    const later = claim('pending', OTHER);
    expect(of(judge(named([later]), 'referral t1.z t2.z; referral t1.z t2.z'), later).decision.to).toBe(
      'active',
    );
  });

  it('is spent by servers that disagree too, and by one address alone', () => {
    for (const said of ['referral s1.z s2.z; nxdomain', 'referral s1.z s2.z; timeout']) {
      const one = fresh();
      expect(of(judge(named([one]), said), one).setsAfter).toEqual([OTHER]);
    }
  });

  it('is not spent for the last holder, for an operator, nor by a later check', () => {
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

  it('that is the only one is spent only where another account has to do with the name', () => {
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
  it('passes to a claim by two checks a minute apart, the second one at every address', () => {
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
    ['not every address was asked', SHOWS_B, { parentAddresses: 6 }],
    [
      'a server answers for the domain itself',
      'referral a2.x b2.y; answer a2.x b2.y; referral a2.x b2.y',
      {},
    ],
    ['only one address says so', 'referral a2.x b2.y; timeout', {}],
    ['there is a DS', 'referral a2.x b2.y +ds; referral a2.x b2.y +ds', {}],
  ])('does not pass while %s', (_, said, more) => {
    const [holder, taker] = [claim('active', A), claim('pending', B, { takeoverSeenAt: NOW - HOUR })];
    const evidence = evidenceOf(said, { finishedAt: NOW, ...more });
    const judged = judgeName(named([holder, taker]), evidence, AROUND);
    expect(judged.isTakeover).toBe(false);
    expect(of(judged, holder).decision.to).toBe('active');
  });

  it('does not pass while the breaker holds moves, nor, after four times in a day, before six hours are over', () => {
    const [holder, taker] = [claim('active', A), claim('pending', B, { takeoverSeenAt: NOW - HOUR })];
    expect(judge(named([holder, taker]), SHOWS_B, NOW, { isFrozen: true }).isTakeover).toBe(false);
    const often = named([holder, taker], { takeovers: [1, 2, 3, 4].map((hours) => NOW - hours * HOUR) });
    expect(judge(often, SHOWS_B).isTakeover).toBe(false);
    expect(judge(often, SHOWS_B, NOW + 5 * HOUR).isTakeover).toBe(true);
  });

  it('is forgotten as seen when the set is gone, and kept while nothing is seen', () => {
    const [holder, taker] = [claim('active', A), claim('pending', B, { takeoverSeenAt: NOW - HOUR })];
    expect(of(judge(named([holder, taker]), SHOWS_A), taker).takeoverSeenAt).toBeUndefined();
    expect(of(judge(named([holder, taker]), 'timeout; timeout'), taker).takeoverSeenAt).toBe(NOW - HOUR);
  });

  it('in external mode passes too', () => {
    const taker = claim('pending', B, { takeoverSeenAt: NOW - HOUR });
    const name = named([taker], { externalHolder: { id: 4711, accountId: 4711 } });
    expect(judge(name, SHOWS_B)).toMatchObject({ isTakeover: true, lostExternal: 4711 });
  });

  it('stays with a holder whose delegation lapses, however long the claim waits', () => {
    const [holder, taker] = [claim('moved', A), claim('pending', B)];
    const judged = judge(named([holder, taker]), 'nxdomain; nxdomain');
    expect(judged.isTakeover).toBe(false);
    expect(of(judged, holder).decision.to).toBe('moved');
  });
});

describe('a domain that the checker disabled', () => {
  it('comes back to pending when its exclusive set is seen', () => {
    const ended = claim('ended', A);
    const judged = judge(named([ended]), SHOWS_A);
    expect(of(judged, ended).decision).toMatchObject({ to: 'pending', state: { conclusive: undefined } });
    expect(codes(judged, ended)).toEqual(['CAME_BACK']);
  });

  it('does not come back by a shared set, nor by another account’s', () => {
    const ended = claim('ended', STATIC);
    expect(of(judge(named([ended]), 'referral s1.z s2.z; referral s1.z s2.z'), ended).decision.to).toBe(
      'ended',
    );
    const other = claim('ended', A);
    expect(of(judge(named([other]), SHOWS_B), other).decision.to).toBe('ended');
  });
});
