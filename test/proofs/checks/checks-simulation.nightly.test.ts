// Thirty days of a fleet in virtual time with every kind of fault: the checker moves only domains that left, activates only
// delegated ones, and finds all domains that left. Who may have a name is the hijack simulation's.

import { describe, expect, it } from 'vitest';
import { judgeDelegation } from '../../../src/checks/delegation/judge-delegation.ts';
import { nextStatus } from '../../../src/checks/delegation/next-status.ts';
import { type CheckerUnderTest, simulate } from '../../support/simulation/simulated-fleet.ts';
import { RULES } from '../../support/simulation/simulated-rules.ts';
import type { Violation } from '../../support/simulation/simulated-truth.ts';
import { proves, scale } from '../../support/tests/scale.ts';

/** In full another world each time; reduced the same one, since its few domains are no proof. */
const SEED = Number(process.env.ZONEFLEET_SEED ?? scale(Math.floor(Math.random() * 2 ** 31), 8));
const DOMAINS = scale(10_000, 400);
const PARENTS = scale(60, 20);

const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;

it(`${DOMAINS} domains for 30 days, seed ${SEED}`, () => {
  const { truth, checks, seconds, moves, held } = simulate({
    seed: SEED,
    domains: DOMAINS,
    parents: PARENTS,
  });
  const find = truth.hoursToFind.toSorted((a, b) => a - b);
  const calmly = truth.hoursToFindCalmly.toSorted((a, b) => a - b);
  const activate = truth.secondsToActivate.toSorted((a, b) => a - b);
  const print = (sorted: readonly number[], unit: string, shares: readonly number[]) =>
    shares.map((share) => `p${share * 100} ${percentile(sorted, share).toFixed(1)} ${unit}`).join(', ');
  console.log(
    [
      `${checks} checks, ${Math.round(checks / seconds)} a second; ${held} held by the breaker`,
      `moves: ${[...moves].map(([move, count]) => `${move} ${count}`).join(', ')}`,
      `departures found: ${find.length}, ${print(find, 'h', [0.5, 0.95, 1])}; ${truth.tooShort} too short to be sure of, ${truth.hastened} moves hastened by the clock`,
      `of them with nothing but loss in the way: ${calmly.length}, ${print(calmly, 'h', [0.5, 0.95, 1])}`,
      `activations timed: ${activate.length}, ${print(activate, 's', [0.5, 0.95, 0.99, 1])}`,
    ].join('\n'),
  );

  expect(truth.violations.map(({ text }) => text)).toEqual([]);
  for (const move of [
    'pending → active',
    'active → moved',
    'moved → active',
    'moved → disabled',
    'pending → disabled',
    'leaving → left',
  ])
    expect(moves.get(move), move).toBeGreaterThan(0);
  expect(find.length).toBeGreaterThan(DOMAINS / 20);
  expect(activate.length).toBeGreaterThan(DOMAINS / 20);
  if (!proves) return; // a hundredth of a few is a matter of luck
  expect(held).toBeGreaterThan(0);
  expect(percentile(activate, 0.95)).toBeLessThanOrEqual(90);
  expect(percentile(activate, 0.99)).toBeLessThanOrEqual(180);
});

const real: CheckerUnderTest = { judge: judgeDelegation, next: nextStatus };

/** Each breaks one rule; the simulation that does not see it would prove nothing. */
const BROKEN: readonly [rule: string, seen: Violation, checker: CheckerUnderTest][] = [
  [
    'what is not known counts as a miss',
    'false moved',
    {
      ...real,
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
      ...real,
      next: (state, judgement, ...rest) =>
        nextStatus(state, { ...judgement, confirmed: judgement.verdict !== 'unknown' }, ...rest),
    },
  ],
  [
    'the first address decides',
    'false active',
    {
      ...real,
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
      ...real,
      next: (state, judgement, at, rules, ...rest) =>
        nextStatus(state, judgement, at, { ...rules, movedAfterMs: RULES.movedAfterMs / 8 }, ...rest),
    },
  ],
  [
    'a match does not end a row of misses',
    'false moved',
    {
      ...real,
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
    { ...real, judge: (...args) => ({ ...judgeDelegation(...args), staleDs: false }) },
  ],
  [
    'no domain is ever moved',
    'departure not found',
    {
      ...real,
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
      const { truth } = simulate({ seed, domains: 300, parents: 20, checker, stopsAt });
      if (truth.violations.some(({ kind }) => kind === stopsAt)) return;
    }
    expect.unreachable('nothing was seen');
  });
});
