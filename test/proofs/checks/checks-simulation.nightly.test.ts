// Thirty days of a fleet in virtual time with every kind of fault: the checker moves only domains that left, activates only
// delegated ones, and finds all domains that left. Who may have a name is the hijack simulation's.

import { describe, expect, it } from 'vitest';
import { judgeDelegation } from '../../../src/checks/delegation/judge-delegation.ts';
import { nextStatus } from '../../../src/checks/delegation/next-status.ts';
import { type CheckerUnderTest, REAL, Simulation } from '../../support/simulation/simulated-fleet.ts';
import { RULES } from '../../support/simulation/simulated-rules.ts';
import type { Violation } from '../../support/simulation/simulated-truth.ts';
import { proves, scale } from '../../support/tests/scale.ts';

/** In full another world each time; reduced the same one, since its few domains are no proof. */
const SEED = Number(process.env.ZONEFLEET_SEED ?? scale(Math.floor(Math.random() * 2 ** 31), 8));
const DOMAINS = scale(10_000, 400);
const PARENTS = scale(60, 20);
const MOVES = [
  'pending → active',
  'active → moved',
  'moved → active',
  'moved → disabled',
  'pending → disabled',
  'leaving → left',
];

it(`${DOMAINS} domains for 30 days, seed ${SEED}`, () => {
  const { truth, moves, held } = new Simulation({ seed: SEED, domains: DOMAINS, parents: PARENTS });
  expect(truth.violations.map(({ text }) => text)).toEqual([]);
  expect([...moves]).toEqual(expect.arrayContaining(MOVES));
  const seconds = truth.secondsToActivate;
  expect(seconds.length).toBeGreaterThan(DOMAINS / 20);
  if (!proves) return; // a hundredth of a few is a matter of luck
  expect(held).toBeGreaterThan(0);
  const slower = (than: number) => seconds.filter((each) => each > than).length / seconds.length;
  expect(slower(90)).toBeLessThanOrEqual(0.05);
  expect(slower(180)).toBeLessThanOrEqual(0.01);
});

/** Each breaks one rule; the simulation that does not see it would prove nothing. */
const BROKEN: readonly [rule: string, seen: Violation, checker: CheckerUnderTest][] = [
  [
    'what is not known counts as a miss',
    'false moved',
    {
      ...REAL,
      judge: (...args) => {
        const judgement = judgeDelegation(...args);
        if (judgement.verdict !== 'unknown') return judgement;
        return { ...judgement, verdict: 'not_delegated', observed: [], oursShown: false, confirmed: true };
      },
    },
  ],
  [
    'one address is enough to activate',
    'false active',
    {
      ...REAL,
      next: (state, judgement, ...rest) =>
        nextStatus(state, { ...judgement, confirmed: judgement.verdict !== 'unknown' }, ...rest),
    },
  ],
  [
    'the first address decides',
    'false active',
    {
      ...REAL,
      judge: ({ servers, ...evidence }, expected) => {
        const heard = servers.filter(({ outcome }) => outcome !== 'timeout' && outcome !== 'lame');
        return judgeDelegation({ ...evidence, servers: heard.slice(0, 1), parentAddresses: 1 }, expected);
      },
    },
  ],
  [
    'misses need no time between them',
    'false moved',
    {
      ...REAL,
      next: (state, judgement, at, rules, ...rest) =>
        nextStatus(state, judgement, at, { ...rules, movedAfterMs: RULES.movedAfterMs / 8 }, ...rest),
    },
  ],
  [
    'a match does not end a row of misses',
    'false moved',
    {
      ...REAL,
      next: (state, judgement, ...rest) => {
        const decision = nextStatus(state, judgement, ...rest);
        const isKept = decision.state.status === 'active' && decision.state.misses === undefined;
        return isKept ? { ...decision, state: { ...decision.state, misses: state.misses } } : decision;
      },
    },
  ],
  [
    'a stale DS does not matter',
    'false active',
    { ...REAL, judge: (...args) => ({ ...judgeDelegation(...args), staleDs: false }) },
  ],
  [
    'no domain is ever moved',
    'departure not found',
    {
      ...REAL,
      next: (state, judgement, at, rules) => {
        const decision = nextStatus(state, judgement, at, rules, false);
        return decision.to === 'moved' ? { ...decision, to: 'active', state } : decision;
      },
    },
  ],
];

describe('it sees a broken rule', () => {
  it.each(BROKEN)('%s: %s', (_, stopsAt, checker) => {
    for (let seed = SEED; seed < SEED + 10; seed++) {
      const { truth } = new Simulation({ seed, domains: 300, parents: 20, checker, stopsAt });
      if (truth.violations.some(({ kind }) => kind === stopsAt)) return;
    }
    expect.unreachable('nothing was seen');
  });
});
