import { describe, expect, it } from 'vitest';
import { anameFindings } from '../../src/checks/aname/aname-findings.ts';
import { asLoop, nextTarget, TARGET_RULES, type TargetState } from '../../src/checks/aname/next-target.ts';
import type { FamilyEvidence, TargetEvidence } from '../../src/checks/aname/target-evidence.ts';
import { parseName } from '../../src/dns/name.ts';
import { rowsOf } from '../support/tests/rows-of.ts';

const UNSEEN = { addresses: undefined, goneAt: undefined };
const NEVER: TargetState = { v4: UNSEEN, v6: UNSEEN, ttl: undefined, failure: undefined };
const NOW = 1_800_000_000_000;
const NONE: FamilyEvidence = { kind: 'none', ttl: 900 };
const FAILED: FamilyEvidence = { kind: 'failed', reason: 'unreachable', message: 'no reply' };
const found = (ttl: number, ...addresses: string[]): FamilyEvidence => ({ kind: 'found', addresses, ttl });

/** `at` is in seconds. A lookup takes two. */
function evidence(v4: FamilyEvidence, v6: FamilyEvidence = NONE, at = 0): TargetEvidence {
  const startedAt = NOW + at * 1000;
  return { names: [parseName('t.test.')], v4, v6, queries: 2, startedAt, finishedAt: startedAt + 2000 };
}

function lookedUp(...seen: TargetEvidence[]): TargetState {
  return seen.reduce((state, each) => nextTarget(state, each).state, NEVER);
}

function shown(state: TargetState, seen: TargetEvidence): string {
  const next = nextTarget(state, seen);
  const { v4, v6, ttl } = next.state;
  const text = ({ addresses }: TargetState['v4']) => addresses?.join(',') || (addresses ? '-' : '?');
  const change = next.isChanged ? 'change' : 'same';
  return [text(v4), text(v6), ttl ?? '?', change, (next.dueAt - seen.startedAt) / 1000].join(' / ');
}

const SEEN = lookedUp(evidence(found(300, '192.0.2.1')));
const EMPTY = lookedUp(evidence(NONE));
const EMPTIED = lookedUp(evidence(found(300, '192.0.2.1')), evidence(NONE), evidence(NONE, NONE, 600));
const BOTH = lookedUp(evidence(found(300, '192.0.2.1'), found(600, '2001:db8::1')));
const STATES = { NEVER, SEEN, EMPTY, EMPTIED, BOTH };

/** Parses `300 192.0.2.1`, `none`, `none 90` or `fails`. */
function family(text = ''): FamilyEvidence {
  const [first, second] = text.split(' ');
  if (first === 'fails') return FAILED;
  if (first === 'none') return second === undefined ? NONE : { kind: 'none', ttl: Number(second) };
  return found(Number(first), second as string);
}

/** Each row: name | previous state | IPv4 | IPv6 | resulting addresses, TTL, change and seconds to the next lookup. */
it.each(
  rowsOf(`
found first | NEVER | 300 192.0.2.1 | none | 192.0.2.1 / - / 300 / change / 300
found again | SEEN | 300 192.0.2.1 | none | 192.0.2.1 / - / 300 / same / 300
another set | SEEN | 900 192.0.2.2 | none | 192.0.2.2 / - / 900 / change / 900
a lower TTL | SEEN | 60 192.0.2.1 | none | 192.0.2.1 / - / 60 / change / 60
a higher TTL | SEEN | 900 192.0.2.1 | none | 192.0.2.1 / - / 300 / same / 900
a TTL of 0 | NEVER | 0 192.0.2.1 | none | 192.0.2.1 / - / 0 / change / 60
a TTL of a week | NEVER | 604800 192.0.2.1 | none | 192.0.2.1 / - / 604800 / change / 3600
the lower TTL of both | NEVER | 300 192.0.2.1 | 90 2001:db8::1 | 192.0.2.1 / 2001:db8::1 / 90 / change / 90
nothing, ever | NEVER | none | none | - / - / ? / change / 60
nothing, ever, again | EMPTY | none | none | - / - / ? / same / 60
nothing of one family, the other fails | NEVER | none | fails | - / ? / ? / same / 60
something at last | EMPTY | 300 192.0.2.1 | none | 192.0.2.1 / - / 300 / change / 300
nothing, after it had some | EMPTIED | none | none | - / - / 300 / same / 600
nothing, after it had some, of which it is known how long | EMPTIED | none 90 | none 90 | - / - / 300 / same / 90
nothing any more | SEEN | none | none | 192.0.2.1 / - / 300 / same / 600
one family is gone | BOTH | 300 192.0.2.1 | none | 192.0.2.1 / 2001:db8::1 / 300 / same / 300
failing | SEEN | fails | fails | 192.0.2.1 / - / 300 / same / 60
failing, never seen | NEVER | fails | fails | ? / ? / ? / same / 60
one family fails | BOTH | 300 192.0.2.2 | fails | 192.0.2.2 / 2001:db8::1 / 300 / change / 60
one family fails that was never seen | SEEN | 300 192.0.2.1 | fails | 192.0.2.1 / - / 300 / same / 300`),
)('%s', (_, before, v4, v6, wanted) => {
  expect(shown(STATES[before as keyof typeof STATES], evidence(family(v4), family(v6)))).toBe(wanted);
});

describe('a family without addresses, according to its zone', () => {
  const first = lookedUp(evidence(found(300, '192.0.2.1')), evidence(NONE, NONE, 300));

  it('keeps its addresses until the zone repeats this ten minutes later', () => {
    const early = nextTarget(first, evidence(NONE, NONE, 899)).state;
    expect(early.v4).toEqual({ addresses: ['192.0.2.1'], goneAt: NOW + 302_000 });
    const late = nextTarget(early, evidence(NONE, NONE, 900));
    expect(late).toMatchObject({ isChanged: true, state: { v4: { addresses: [], goneAt: undefined } } });
  });

  it('keeps them through failures, and starts again if addresses were seen in between', () => {
    const failing = lookedUp(
      evidence(found(300, '192.0.2.1')),
      evidence(NONE, NONE, 300),
      evidence(FAILED, FAILED, 1000),
    );
    expect(failing.v4).toEqual({ addresses: ['192.0.2.1'], goneAt: NOW + 302_000 });
    const back = nextTarget(first, evidence(found(300, '192.0.2.1'), NONE, 400)).state;
    expect(nextTarget(back, evidence(NONE, NONE, 1000)).state.v4.addresses).toEqual(['192.0.2.1']);
  });

  it('starts again if the clock was set back', () => {
    const { goneAt } = nextTarget(first, evidence(NONE, NONE, -3600)).state.v4;
    expect(goneAt).toBe(NOW - 3_598_000);
  });
});

describe('a target that fails', () => {
  it('is retried at growing intervals, but within its TTL and ten minutes', () => {
    const waits = (ttl: number) => {
      let state = lookedUp(evidence(found(ttl, '192.0.2.1')));
      return [1, 2, 3, 4, 5, 6].map(() => {
        const next = nextTarget(state, evidence(FAILED, FAILED));
        ({ state } = next);
        return (next.dueAt - NOW) / 1000;
      });
    };
    expect(waits(30)).toEqual([60, 60, 60, 60, 60, 60]);
    expect(waits(300)).toEqual([60, 120, 240, 300, 300, 300]);
    expect(waits(86_400)).toEqual([60, 120, 240, 480, 600, 600]);
  });

  it.each<[string, TargetState]>([
    ['never seen', NEVER],
    ['empty', EMPTY],
    ['emptied', lookedUp(evidence(found(3600, '192.0.2.1')), evidence(NONE), evidence(NONE, NONE, 600))],
  ])('without addresses (%s) is queried every minute for ten minutes, then less and less often', (_, before) => {
    let state = before;
    let at = 1000;
    const waits: number[] = [];
    while (at < 1000 + 86_400) {
      const next = nextTarget(state, evidence(FAILED, FAILED, at));
      ({ state } = next);
      waits.push((next.dueAt - NOW) / 1000 - at);
      at += waits.at(-1) as number;
    }
    expect(waits.slice(0, 11)).toEqual(Array(11).fill(60));
    expect(waits[20]).toBeGreaterThan(100);
    expect(waits.at(-1)).toBe(600);
  });

  it('lists each failing target, since when and how often', () => {
    let state = SEEN;
    for (let i = 1; i <= 100; i++) ({ state } = nextTarget(state, evidence(FAILED, FAILED, i * 300)));
    expect(state.v4.addresses).toEqual(['192.0.2.1']);
    expect(state.failure).toEqual({
      reason: 'unreachable',
      message: 'no reply',
      since: NOW + 302_000,
      count: 100,
    });
    expect(nextTarget(state, evidence(found(300, '192.0.2.1'), NONE, 40_000))).toMatchObject({
      isChanged: false,
      state: { failure: undefined },
    });
  });

  it('lists a target that leads back to itself', () => {
    const loop = asLoop(evidence(found(300, '192.0.2.9')), 'a → b → a');
    expect(nextTarget(SEEN, loop).state).toMatchObject({
      v4: { addresses: ['192.0.2.1'] },
      failure: { reason: 'loop', message: 'a → b → a' },
    });
  });
});

it('only a limited number of addresses is used', () => {
  const many = Array.from({ length: 300 }, (_, i) => `192.0.${i >> 8}.${i & 255}`);
  expect(nextTarget(NEVER, evidence(found(60, ...many))).state.v4.addresses).toEqual(many.slice(0, 64));
  expect(TARGET_RULES.minIntervalMs).toBe(60_000);
});

it('each code has one sentence that lists its targets', () => {
  const targets = Array.from({ length: 9 }, (_, i) => parseName(`t${i}.example.`));
  const codes = ['ANAME_TARGET_FAILS', 'ANAME_TARGET_EMPTY', 'ANAME_LOOP'] as const;
  const troubles = codes.flatMap((code, i) =>
    targets.slice(0, [1, 2, 9][i]).map((target) => ({ target, code })),
  );
  const found = anameFindings(troubles.reverse());
  expect(found.map(({ code }) => code)).toEqual(codes);
  const pointing = found.map(
    ({ message }) => /^ANAME records point to (.*?),? (?:which|but) /.exec(message)?.[1],
  );
  expect(pointing).toEqual([
    't0.example',
    't1.example or t0.example',
    't8.example, t7.example, t6.example, t5.example, t4.example or 4 more',
  ]);
  expect(anameFindings([])).toEqual([]);
});
