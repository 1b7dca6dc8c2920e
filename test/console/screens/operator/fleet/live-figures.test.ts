import { expect, it } from 'vitest';
import {
  jobsIn,
  sumOfRates,
  withLook,
} from '../../../../../console/src/screens/operator/fleet/live-figures.ts';
import type { Rates } from '../../../../../console/src/screens/operator/fleet/node-rates.ts';

const rate = (answered: number, dropped = 0): Rates => ({ answered, dropped });

it('sums what nodes do, and says nothing where none tells', () => {
  const rates = { ams1: rate(100, 1), fra1: rate(50.5, 2) };
  expect(sumOfRates(new Map(Object.entries(rates)))).toEqual(rate(150.5, 3));
  expect(sumOfRates(new Map())).toBeUndefined();
});

it('keeps the last sixty looks', () => {
  let looks: readonly Rates[] = [];
  for (let i = 0; i < 70; i++) looks = withLook(looks, rate(i));
  expect([looks.length, looks[0], looks.at(-1)]).toEqual([60, rate(10), rate(69)]);
});

it('counts the jobs of the queues that answer', () => {
  const queues = [
    { name: 'checks', reachable: true, waiting: 5, dead: 1 },
    { name: 'mail', reachable: true, waiting: 2, dead: 3 },
    { name: 'away', reachable: false },
  ];
  expect(jobsIn(queues)).toEqual({ waiting: 7, dead: 4 });
});
