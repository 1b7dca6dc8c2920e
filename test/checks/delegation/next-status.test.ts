import { describe, expect, it } from 'vitest';
import type { CheckState } from '../../../src/checks/delegation/check-state.ts';
import { FINDINGS } from '../../../src/checks/delegation/findings.ts';
import { nextCheckAt } from '../../../src/checks/delegation/next-check-at.ts';
import {
  isMiss,
  nextStatus,
  type Rules,
  UNKNOWN_PENDING_MAX_MS,
} from '../../../src/checks/delegation/next-status.ts';
import {
  nextSteadiness,
  type Steadiness,
  unsteadyChanges,
} from '../../../src/checks/delegation/steadiness.ts';
import { type Judgement, VERDICTS, type Verdict } from '../../../src/checks/delegation/verdict.ts';
import { type Name, ROOT } from '../../../src/dns/name.ts';
import { expectedSets, names, nameserverSets } from '../../support/world/check-evidence.ts';

const HOUR = 3_600_000;
const DAY = 86_400_000;
const NOW = 1_800_000_000_000;

describe('the status after a check', () => {
  const RULES: Rules = {
    movedAfterMs: DAY,
    movedGraceMs: 14 * DAY,
    pendingMaxMs: 28 * DAY,
    unknownPendingMaxMs: UNKNOWN_PENDING_MAX_MS,
  };
  const EXPECTED = expectedSets('ns1.a ns2.a | ns1.b ns2.b');
  const [A, B] = EXPECTED.sets as [(typeof EXPECTED.sets)[0], (typeof EXPECTED.sets)[0]];
  const NONE_OURS: ReadonlySet<Verdict> = new Set(['foreign', 'not_delegated', 'unregistered', 'alias']);

  const OBSERVED: Readonly<Record<Verdict, readonly Name[] | undefined>> = {
    match: A,
    partial: A.slice(0, 1),
    extra: [...A, ...nameserverSets('ns1.x').flat()],
    mixed: [A[0] as Name, B[0] as Name],
    foreign: nameserverSets('ns1.x').flat(),
    not_delegated: [],
    unregistered: [],
    alias: [],
    unknown: undefined,
  };

  function judgement(verdict: Verdict, more: Partial<Judgement> = {}): Judgement {
    const isKnown = verdict !== 'unknown';
    return {
      ...{ verdict, matched: verdict === 'match' ? A : undefined, observed: OBSERVED[verdict] },
      ...{ confirmations: isKnown ? 2 : 0, confirmed: isKnown, byAnswer: false, soleWitness: false },
      oursShown: isKnown ? !NONE_OURS.has(verdict) : undefined,
      othersShown: isKnown ? false : undefined,
      ...{ staleDs: false, findings: [], ...more },
    };
  }

  const state = (
    status: CheckState['status'],
    ageMs: number,
    more: Partial<CheckState> = {},
  ): CheckState => ({
    status,
    since: NOW - ageMs,
    misses: undefined,
    conclusive: undefined,
    witnessAt: undefined,
    ...more,
  });
  const misses = (count: number, sinceMs: number, lastMs = HOUR) => ({
    count,
    firstAt: NOW - sinceMs,
    lastAt: NOW - lastMs,
  });
  const seenGone = { at: NOW - HOUR, oursShown: false, othersShown: false };

  const BEFORE: Record<string, CheckState> = {
    'pending, new': state('pending', 0),
    'pending 28 d less 1 ms': state('pending', 28 * DAY - 1),
    'pending 28 d': state('pending', 28 * DAY),
    'pending 90 d, never seen': state('pending', 90 * DAY),
    'pending 90 d, seen once': state('pending', 90 * DAY, { conclusive: seenGone }),
    'pending 56 d': state('pending', 56 * DAY, { conclusive: seenGone }),
    'active, no miss': state('active', DAY),
    'active, 1 miss 30 h ago': state('active', 9 * DAY, { misses: misses(1, 30 * HOUR) }),
    'active, 2 misses in 24 h less 1 ms': state('active', 9 * DAY, { misses: misses(2, DAY - 1) }),
    'active, 2 misses in 24 h': state('active', 9 * DAY, { misses: misses(2, DAY) }),
    'active, 9 misses held': state('active', 9 * DAY, { misses: misses(9, 3 * DAY) }),
    'moved, new': state('moved', 0),
    'moved 14 d less 1 ms': state('moved', 14 * DAY - 1),
    'moved 14 d': state('moved', 14 * DAY),
    'moved 14 d, seen gone': state('moved', 14 * DAY, { conclusive: seenGone }),
    'leaving, new': state('leaving', 0),
    'leaving 14 d': state('leaving', 14 * DAY),
    'ended, new': state('ended', 0),
    'ended 90 d': state('ended', 90 * DAY),
  };

  /** One row per previous state, one column per verdict: the new status. `.` means unchanged. */
  const CONFIRMED = `
                                     match   partial  extra  mixed  foreign   not_delegated  unregistered  alias     unknown
pending, new                         active  .        .      .      .         .              .             .         .
pending 28 d less 1 ms               active  .        .      .      .         .              .             .         .
pending 28 d                         active  .        .      .      disabled  disabled       disabled      disabled  .
pending 90 d, never seen             active  disabled  disabled  disabled  disabled  disabled       disabled      disabled  disabled
pending 90 d, seen once              active  disabled  disabled  disabled  disabled  disabled       disabled      disabled  .
pending 56 d                         active  disabled  disabled  disabled  disabled  disabled  disabled  disabled  .
active, no miss                      .       .        .      .      .         .              .             .         .
active, 1 miss 30 h ago              .       .        .      .      .         .              .             .         .
active, 2 misses in 24 h less 1 ms   .       .        .      .      .         .              .             .         .
active, 2 misses in 24 h             .       .        .      .      moved     moved          moved         moved     .
active, 9 misses held                .       .        .      .      moved     moved          moved         moved     .
moved, new                           active  .        .      .      .         .              .             .         .
moved 14 d less 1 ms                 active  .        .      .      .         .              .             .         .
moved 14 d                           active  .        .      .      disabled  disabled       disabled      disabled  .
moved 14 d, seen gone                active  .        .      .      disabled  disabled       disabled      disabled  .
leaving, new                         .       .        .      .      left      left           left          left      .
leaving 14 d                         left    left     left   left   left      left           left          left      left
ended, new                           pending  .  .  .  .  .  .  .  .
ended 90 d                           .  .  .  .  .  .  .  .  .
`;

  type Cell = readonly [before: string, verdict: Verdict, after: string];

  function cellsOf(table: string): readonly Cell[] {
    const [head, ...lines] = table.trim().split('\n');
    const verdicts = head?.trim().split(/\s+/) as Verdict[];
    return lines.flatMap((line) => {
      const [before, ...cells] = line.split(/\s{2,}/) as [string, ...string[]];
      return verdicts.map(
        (verdict, i) => [before, verdict, cells[i] === '.' ? BEFORE[before]?.status : cells[i]] as Cell,
      );
    });
  }
  const CELLS = cellsOf(CONFIRMED);

  const decide = (before: string, seen: Judgement, frozen = false) =>
    nextStatus(BEFORE[before] as CheckState, seen, NOW, RULES, frozen);

  it('the table contains every state and verdict', () => {
    expect(new Set(CELLS.map(([before]) => before))).toEqual(new Set(Object.keys(BEFORE)));
    expect(new Set(CELLS.map(([, verdict]) => verdict))).toEqual(new Set(VERDICTS));
    expect(new Set(Object.values(BEFORE).map(({ status }) => status))).toEqual(
      new Set(['pending', 'active', 'moved', 'leaving', 'ended']),
    );
  });

  /** Returns the status after a check without any usable result. */
  const byTime = (before: string, verdict: Verdict, after: string) =>
    before === 'leaving 14 d' || (before.includes('never seen') && verdict === 'unknown')
      ? after
      : BEFORE[before]?.status;

  it.each(CELLS)('a check of %s, %s', (before, verdict, after) => {
    const { to, state: next } = decide(before, judgement(verdict));
    expect(to).toBe(after);
    const was = BEFORE[before] as CheckState;
    const stored = to === 'disabled' ? 'ended' : to === 'left' ? was.status : to;
    expect([next.status, next.since]).toEqual([stored, stored === was.status ? was.since : NOW]);

    const unconfirmed = decide(before, judgement(verdict, { confirmed: false, confirmations: 1 }));
    expect(unconfirmed.to).toBe(byTime(before, verdict, after));

    const isHeld = after !== was.status && (after === 'moved' || after === 'disabled');
    const held = decide(before, judgement(verdict), true);
    expect([held.to, held.frozen]).toEqual([isHeld ? was.status : after, isHeld]);
    expect(held.findings.some(({ code }) => code === 'MOVES_HELD')).toBe(isHeld);

    if (verdict !== 'match') return;
    const isOver = was.status === 'pending' && NOW - was.since >= 56 * DAY;
    const withDs = decide(before, judgement(verdict, { staleDs: true })).to;
    expect(withDs).toBe(before === 'leaving 14 d' ? 'left' : isOver ? 'disabled' : was.status);
  });

  it('misses are stored while the breaker holds moves, and the next one moves the domain', () => {
    const { state: held } = decide('active, 2 misses in 24 h', judgement('foreign'), true);
    expect(held.misses).toEqual({ count: 3, firstAt: NOW - DAY, lastAt: NOW });
    const then = (seen: Judgement) => nextStatus(held, seen, NOW + HOUR, RULES, false).to;
    expect(then(judgement('unknown'))).toBe('active');
    expect(then(judgement('foreign', { confirmed: false }))).toBe('active');
    expect(then(judgement('foreign'))).toBe('moved');
  });

  it('a stale DS does not prevent a domain from leaving', () => {
    expect(decide('active, 2 misses in 24 h', judgement('foreign', { staleDs: true })).to).toBe('moved');
    expect(decide('moved 14 d', judgement('foreign', { staleDs: true })).to).toBe('disabled');
  });

  describe('a series of misses', () => {
    const before = misses(2, 5 * HOUR);
    const active = state('active', DAY, { misses: before });
    const counted = { ...before, count: 3, lastAt: NOW };

    it.each([
      ['match', true, undefined],
      ['match', false, undefined],
      ['partial', true, undefined],
      ['partial', false, undefined],
      ['extra', true, undefined],
      ['mixed', true, undefined],
      ['unknown', false, before],
      ['foreign', true, counted],
      ['not_delegated', true, counted],
      ['unregistered', true, counted],
      ['alias', true, counted],
      ['foreign', false, before],
      ['unregistered', false, before],
    ] as const)('and %s, confirmed: %s', (verdict, confirmed, after) => {
      const seen = judgement(verdict, { confirmed });
      expect(nextStatus(active, seen, NOW, RULES, false).state.misses).toEqual(after);
    });

    it('starts with the first one of an active domain, and ends if the status changes', () => {
      const misses = (before: string) => decide(before, judgement('foreign')).state.misses;
      expect(misses('active, no miss')).toEqual({ count: 1, firstAt: NOW, lastAt: NOW });
      expect(misses('pending, new')).toBeUndefined();
      expect(misses('active, 2 misses in 24 h')).toBeUndefined();
      expect(VERDICTS.filter(isMiss)).toEqual([...NONE_OURS]);
    });
  });

  describe('a clock that jumps', () => {
    /** Returns the status after checks of an active domain at these hours, all of them confirmed misses. */
    const run = (...hours: number[]) => {
      let current = state('active', 9 * DAY);
      return hours.map((hour) => {
        const decision = nextStatus(current, judgement('foreign'), NOW + hour * HOUR, RULES, false);
        current = decision.state;
        return decision.to;
      });
    };

    it('removes no miss if it jumps forward', () => {
      expect(run(0, 24, 25)).toEqual(['active', 'active', 'moved']);
      expect(run(0, 1000)).toEqual(['active', 'active']);
    });

    it('restarts the time span if it jumps back, but keeps the count', () => {
      expect(run(0, 1, -24, -23, -1, 0)).toEqual(['active', 'active', 'active', 'active', 'active', 'moved']);
      expect(run(0, 1, 2, -30, -29)).not.toContain('moved');
    });

    it('delays by at most MOVED_AFTER if it was far ahead for one check', () => {
      expect(run(0, 500, 2, 25, 26)).toEqual(['active', 'active', 'active', 'active', 'moved']);
    });

    it('never ends a period early', () => {
      const ahead = state('moved', -DAY);
      expect(nextStatus(ahead, judgement('foreign'), NOW, RULES, false).to).toBe('moved');
      const pending = state('pending', -90 * DAY);
      expect(nextStatus(pending, judgement('unknown'), NOW, RULES, false).to).toBe('pending');
    });
  });

  describe('the stored state', () => {
    it('contains the newest conclusive check, and if it showed our servers', () => {
      const seen = (verdict: Verdict) =>
        decide('pending 90 d, seen once', judgement(verdict)).state.conclusive;
      expect(seen('partial')).toEqual({ at: NOW, oursShown: true, othersShown: false });
      expect(seen('alias')).toEqual({ at: NOW, oursShown: false, othersShown: false });
      expect(seen('unknown')).toEqual(seenGone);
    });

    it('is kept if the status changes', () => {
      expect(decide('pending, new', judgement('match')).state).toEqual({
        status: 'active',
        since: NOW,
        misses: undefined,
        conclusive: { at: NOW, oursShown: true, othersShown: false },
        witnessAt: undefined,
        steadiness: { seen: expect.any(Number), changedAt: [] },
      });
    });

    it('contains how often the delegation changed, regardless of the status', () => {
      const steadiness = { seen: 1, changedAt: [NOW - HOUR] };
      const before = state('pending', HOUR, { steadiness });
      const then = (verdict: Verdict) => nextStatus(before, judgement(verdict), NOW, RULES, false).state;
      expect(then('match').steadiness?.changedAt).toEqual([NOW - HOUR, NOW]);
      expect(then('unknown').steadiness).toEqual(steadiness);
    });
  });

  describe('a sole witness, next to addresses that are silent or fail', () => {
    const witnessed = (verdict: Verdict) =>
      judgement(verdict, { confirmed: false, confirmations: 1, soleWitness: true });

    it('proves a pending domain in two checks a minute apart', () => {
      const first = decide('pending, new', witnessed('match'));
      expect([first.to, first.state.witnessAt]).toEqual(['pending', NOW]);
      const then = (seen: Judgement, ms: number) => nextStatus(first.state, seen, NOW + ms, RULES, false);
      expect(then(witnessed('match'), 59_999).to).toBe('pending');
      expect(then(witnessed('match'), 60_000).to).toBe('active');
      expect(then(judgement('match', { confirmed: false }), 60_000).to).toBe('pending');
      expect(then(witnessed('foreign'), 60_000).state.witnessAt).toBeUndefined();
      expect(then(judgement('unknown'), 60_000).state.witnessAt).toBe(NOW);
    });

    it('must start again if another address disagrees in between', () => {
      const first = decide('pending, new', witnessed('match'));
      const findings = [FINDINGS.PARENTS_DISAGREE(ROOT, [])];
      const between = nextStatus(first.state, judgement('unknown', { findings }), NOW + 30_000, RULES, false);
      expect(between.state.witnessAt).toBeUndefined();
      expect(nextStatus(between.state, witnessed('match'), NOW + 60_000, RULES, false).to).toBe('pending');
    });

    it('neither moves a domain nor restores one', () => {
      for (const before of ['active, 2 misses in 24 h', 'moved 14 d', 'ended, new'])
        expect(decide(before, witnessed(before === 'ended, new' ? 'match' : 'foreign')).to).toBe(
          BEFORE[before]?.status,
        );
    });
  });

  it('an unconfirmed check is not stored as the first conclusive one', () => {
    const seen = judgement('foreign', { confirmed: false, othersShown: true });
    expect(decide('pending, new', seen).state.conclusive).toBeUndefined();
    expect(decide('pending, new', { ...seen, confirmed: true }).state.conclusive?.othersShown).toBe(true);
  });

  describe('while the root does not validate', () => {
    it.each([
      ['active', 'foreign', state('active', 90 * DAY, { misses: misses(9, 9 * DAY) })],
      ['moved', 'unregistered', state('moved', 90 * DAY)],
      ['pending', 'not_delegated', state('pending', 90 * DAY)],
    ] as const)('a domain that is %s keeps its status, and its owner sees the reason', (status, verdict, before) => {
      const waiting = nextStatus(before, judgement(verdict, { rootFault: true }), NOW, RULES, false);
      expect(waiting).toMatchObject({ to: status, frozen: false });
      expect(waiting.findings.map(({ code }) => code)).toEqual(['ROOT_FAULT']);
      const free = nextStatus(before, judgement(verdict), NOW, RULES, false);
      expect(free.to).toBe(status === 'active' ? 'moved' : 'disabled');
    });

    it('misses are still counted, and a match activates', () => {
      const decided = (status: 'active' | 'pending', verdict: Verdict) =>
        nextStatus(state(status, DAY), judgement(verdict, { rootFault: true }), NOW, RULES, false);
      expect(decided('active', 'foreign').state.misses?.count).toBe(1);
      expect(decided('pending', 'match')).toMatchObject({ to: 'active', findings: [] });
    });
  });
});

describe('the time of the next check', () => {
  const MISSES = { count: 1, firstAt: NOW, lastAt: NOW };

  const state = (status: CheckState['status'], ageMs: number, misses?: CheckState['misses']): CheckState => ({
    status,
    since: NOW - ageMs,
    misses,
    conclusive: undefined,
    witnessAt: undefined,
  });

  const seen = (verdict: Verdict, oursShown?: boolean) => ({ verdict, oursShown, othersShown: oursShown });

  it.each<[string, CheckState, Verdict, number]>([
    ['pending, new', state('pending', 0), 'unregistered', 60],
    ['pending, the clock went back', state('pending', -DAY), 'unknown', 60],
    ['pending, nearly 6 h', state('pending', 6 * HOUR - 1), 'match', 60],
    ['pending, 6 h', state('pending', 6 * HOUR), 'unknown', 300],
    ['pending, nearly 3 d', state('pending', 3 * DAY - 1), 'partial', 300],
    ['pending, 3 d', state('pending', 3 * DAY), 'foreign', 900],
    ['pending, nearly 7 d', state('pending', 7 * DAY - 1), 'foreign', 900],
    ['pending, 7 d', state('pending', 7 * DAY), 'foreign', 3600],
    ['pending, 89 d', state('pending', 89 * DAY), 'unknown', 3600],
    ['active', state('active', 90 * DAY), 'match', 43_200],
    ['active, some of our servers', state('active', DAY), 'partial', 43_200],
    ['active, nothing seen', state('active', DAY), 'unknown', 43_200],
    ['active, missed', state('active', DAY, MISSES), 'foreign', 3600],
    ['active, missed before, nothing seen now', state('active', DAY, MISSES), 'unknown', 3600],
    ['active, an unconfirmed miss', state('active', DAY), 'foreign', 3600],
    ['moved', state('moved', 0), 'foreign', 3600],
    ['moved long ago', state('moved', 13 * DAY), 'unknown', 3600],
    ['leaving', state('leaving', 0), 'match', 3600],
    ['ended', state('ended', 89 * DAY), 'foreign', 86_400],
    ['ended long ago', state('ended', 90 * DAY), 'unknown', 604_800],
  ])('%s: interval in seconds', (_, current, verdict, seconds) => {
    const at = (random: number) => nextCheckAt(current, seen(verdict), NOW, random);
    expect(at(0.5)).toMatchObject({ at: NOW + seconds * 1000, intervalSeconds: seconds });
    expect(at(0)).toMatchObject({ at: NOW + seconds * 800, intervalSeconds: seconds });
  });

  it('jitter spreads evenly over 20 % to both sides', () => {
    const after = Array.from(
      { length: 1000 },
      (_, i) => (nextCheckAt(state('moved', 0), seen('foreign'), NOW, i / 1000).at as number) - NOW,
    );
    expect(Math.min(...after)).toBe(0.8 * HOUR);
    expect(Math.max(...after)).toBeGreaterThan(1.199 * HOUR);
    expect(Math.max(...after)).toBeLessThan(1.2 * HOUR);
    expect(after.filter((ms) => ms < HOUR)).toHaveLength(500);
  });

  it('a domain that ended long ago is checked only while its parent shows one of our nameservers', () => {
    const ended = state('ended', 90 * DAY);
    expect(nextCheckAt(ended, seen('foreign', true), NOW, 0.5).intervalSeconds).toBe(604_800);
    expect(nextCheckAt(ended, seen('unregistered', false), NOW, 0.5).at).toBeUndefined();
  });

  describe('a pending domain whose checks see nothing', () => {
    const pending = state('pending', 0);
    const next = (before: number, isTryLater = false, current = pending, verdict: Verdict = 'unknown') =>
      nextCheckAt(current, seen(verdict), NOW, 0.5, { before, isTryLater });

    it('is checked at doubled intervals from the eleventh check on, up to 6 hours', () => {
      const intervals: number[] = [];
      for (let before = 0; intervals.length < 21; ) {
        const { intervalSeconds, unknowns } = next(before);
        intervals.push(intervalSeconds);
        before = unknowns;
      }
      expect(intervals.slice(0, 10)).toEqual(Array(10).fill(60));
      expect(intervals.slice(10)).toEqual([
        120, 240, 480, 960, 1920, 3840, 7680, 15_360, 21_600, 21_600, 21_600,
      ]);
    });

    it('is checked as usual again after a check with a result', () => {
      expect(next(19, false, pending, 'foreign')).toMatchObject({ intervalSeconds: 60, unknowns: 0 });
    });

    it('is not checked later because we had no slot for it', () => {
      expect(next(12, true)).toMatchObject({ intervalSeconds: 240, unknowns: 12 });
      expect(next(0, true)).toMatchObject({ intervalSeconds: 60, unknowns: 0 });
    });

    it('is not checked later while the servers of its parent disagree, as they do after every change', () => {
      const heard = nextCheckAt(pending, seen('unknown'), NOW, 0.5, { before: 19, isHeard: true });
      expect(heard).toMatchObject({ intervalSeconds: 60, unknowns: 0 });
    });

    it('is the only kind that waits longer', () => {
      expect(next(19, false, state('active', DAY))).toMatchObject({ intervalSeconds: 43_200, unknowns: 0 });
      expect(next(19, false, state('moved', DAY))).toMatchObject({ intervalSeconds: 3600, unknowns: 0 });
    });

    it('never waits less than usual, and its count is limited', () => {
      expect(next(20, false, state('pending', 8 * DAY))).toMatchObject({
        intervalSeconds: 21_600,
        unknowns: 20,
      });
    });
  });
});

const MINUTE = 60_000;
const START = 1_800_000_000_000;

/** Returns the state after checks a minute apart. `?` marks an unconfirmed one. */
const after = (sets: readonly string[], { stepMs = MINUTE, from = START } = {}) =>
  sets.reduce<Steadiness | undefined>(
    (before, set, i) =>
      nextSteadiness(
        before,
        {
          confirmed: !set.startsWith('?'),
          observed: set === '?' ? undefined : names(set.replace('?', '')),
        },
        from + i * stepMs,
      ),
    undefined,
  );
const count = (sets: readonly string[], options = {}) => unsteadyChanges(after(sets, options))?.count;

it('three changes within a day are reported, but a move and its reversal are not', () => {
  expect(count(['old.x', 'ns1.a', 'old.x'])).toBeUndefined();
  expect(count(['ns1.a', 'old.x', 'ns1.a', ''])).toBe(3);
  expect(count(['ns1.a', '', 'ns1.a', '', 'ns1.a'])).toBe(4);
});

it('neither another order of the same names nor an unconfirmed answer counts as a change', () => {
  expect(count(['ns1.a ns2.a', 'ns2.a ns1.a', 'ns1.a ns2.a', 'ns2.a ns1.a'])).toBeUndefined();
  expect(count(['ns1.a', '?old.x', 'ns1.a', '?old.x', '?', 'ns1.a'])).toBeUndefined();
});

it('a change is forgotten after a day, also while nothing answers', () => {
  const unsteady = after(['ns1.a', '', 'ns1.a', '']);
  const silent = { confirmed: false, observed: undefined };
  expect(unsteadyChanges(nextSteadiness(unsteady, silent, START + DAY))).toEqual({ count: 3, isMore: false });
  expect(unsteadyChanges(nextSteadiness(unsteady, silent, START + DAY + MINUTE))).toBeUndefined();
  expect(count(['ns1.a', '', 'ns1.a', '', 'ns1.a'], { stepMs: DAY / 2 })).toBeUndefined();
});

it('at most 32 changes are stored, regardless of how often the delegation changes', () => {
  const many = after(Array.from({ length: 1000 }, (_, i) => `ns${i % 2}.a`));
  expect(many?.changedAt).toHaveLength(32);
  expect(unsteadyChanges(many)).toEqual({ count: 32, isMore: true });
});

it('if the clock goes back, changes in the future are forgotten', () => {
  const unsteady = after(['ns1.a', '', 'ns1.a', '']);
  const back = nextSteadiness(unsteady, { confirmed: true, observed: [] }, START);
  expect(back?.changedAt).toEqual([]);
});
