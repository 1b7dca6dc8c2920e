// Which zones are queried, and how often.

import { expect, it } from 'vitest';
import { byZipf, evenly, recipeQuestions } from '../../../bench/zones/recipe-zones.ts';
import { randomFrom } from '../../support/random/random-zones.ts';

function drawMany(draw: ReturnType<typeof evenly>, zones: number, times: number): number[] {
  const random = randomFrom(1);
  const counts = new Array<number>(zones).fill(0);
  for (let i = 0; i < times; i++) {
    const zone = draw(random);
    counts[zone] = (counts[zone] ?? 0) + 1;
  }
  return counts.sort((a, b) => b - a);
}

it("by Zipf's law the second zone gets half as many queries as the first, the tenth a tenth", () => {
  const counts = drawMany(byZipf(1000), 1000, 200_000);
  expect((counts[1] as number) / (counts[0] as number)).toBeCloseTo(0.5, 1);
  expect((counts[9] as number) / (counts[0] as number)).toBeCloseTo(0.1, 1);
});

it('with an even distribution every zone is queried', () => {
  const counts = drawMany(evenly(100), 100, 20_000);
  expect(counts.at(-1)).toBeGreaterThan(130);
});

it('queries are the same in every run, in the announced proportions', () => {
  const lines = recipeQuestions(evenly(1000), 20_000, 1).trim().split('\n');
  expect(recipeQuestions(evenly(1000), 20_000, 1).trim().split('\n')).toEqual(lines);
  const part = (pattern: RegExp) => lines.filter((line) => pattern.test(line)).length / lines.length;
  expect(part(/ AAAA$/)).toBeCloseTo(0.15, 1);
  expect(part(/^absent\./)).toBeCloseTo(0.05, 1);
  expect(part(/ (MX|TXT)$/)).toBeCloseTo(0.1, 1);
});
