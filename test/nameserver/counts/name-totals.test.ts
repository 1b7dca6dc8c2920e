import { expect, test } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { NameTotals } from '../../../src/nameserver/counts/name-totals.ts';
import { SAMPLED } from '../../../src/nameserver/counts/zone-counts.ts';

const MOST_NAMES = 512;
const WWW = parseName('www.a.example.');

test('a name’s samples stand for as many questions as one of each is taken from', () => {
  const names = new NameTotals();
  for (let i = 0; i < 3; i++) names.add(1, WWW);
  expect(names.take()).toEqual([{ zoneId: 1, name: WWW, count: 3 * SAMPLED }]);
  expect(names.take()).toEqual([]);
});

test('random names of a zone push out neither its frequent ones nor those of another zone', () => {
  const names = new NameTotals();
  names.add(2, WWW);
  for (let i = 0; i < 20_000; i++) {
    names.add(1, parseName(`x${i}.a.example.`));
    if (i % 10 === 0) names.add(1, WWW);
  }
  const taken = names.take();
  expect(taken.length).toBeLessThanOrEqual(17);
  expect(taken[0]).toMatchObject({ zoneId: 1, name: WWW });
  expect(taken[0]?.count).toBe(2000 * SAMPLED);
  expect(taken.filter(({ zoneId }) => zoneId === 2)).toEqual([{ zoneId: 2, name: WWW, count: SAMPLED }]);
});

test('of many zones each has its first name before any has a second', () => {
  const names = new NameTotals();
  for (let zone = 1; zone <= 5000; zone++)
    for (let i = 0; i < 3; i++) names.add(zone, parseName(`n${i}.example.`));
  for (let i = 0; i < 9; i++) names.add(7777, WWW);
  const taken = names.take();
  expect(taken).toHaveLength(MOST_NAMES);
  expect(new Set(taken.map(({ zoneId }) => zoneId)).size).toBe(MOST_NAMES);
  expect(taken[0]).toEqual({ zoneId: 7777, name: WWW, count: 9 * SAMPLED });
});
