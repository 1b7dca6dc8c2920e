// What is counted together when too many zones and types are asked for, and what is not.

import { expect, test } from 'vitest';
import { NO_ZONE, ZoneTotals } from '../../../src/nameserver/counts/zone-totals.ts';

function read(totals: ZoneTotals): Map<string, number> {
  const { zoneIds, types, rcodes, counts } = totals.take();
  return new Map(Array.from(zoneIds, (id, i) => [`${id} ${types[i]} ${rcodes[i]}`, counts[i] as number]));
}
const sum = (of: Iterable<number>) => [...of].reduce((all, count) => all + count, 0);

test('counts of one key add up, and are forgotten once they were taken', () => {
  const totals = new ZoneTotals();
  totals.add(5, 1, 0, 3);
  totals.add(5, 1, 0, 4);
  totals.add(2 ** 40 + 5, 1, 0, 1);
  expect(read(totals)).toEqual(
    new Map([
      ['5 1 0', 7],
      [`${2 ** 40 + 5} 1 0`, 1],
    ]),
  );
  expect(totals.size).toBe(0);
});

test('with all types of some zones, the rarer ones of each are counted together, and each zone keeps its number', () => {
  const totals = new ZoneTotals(1024);
  totals.add(1, 28, 3, 2);
  for (let zone = 2; zone <= 60; zone++)
    for (let type = 1; type <= 40; type++) totals.add(zone, type, 0, type);
  expect(totals.size).toBeLessThanOrEqual(1024);
  const counts = read(totals);
  expect(counts.get('1 28 3')).toBe(2);
  const byZone = new Map<string, number>();
  for (const [key, count] of counts) {
    const zone = key.split(' ')[0] as string;
    byZone.set(zone, (byZone.get(zone) ?? 0) + count);
  }
  expect(byZone.has(String(NO_ZONE))).toBe(false);
  for (let zone = 2; zone <= 60; zone++) expect(byZone.get(String(zone))).toBe((40 * 41) / 2);
});

test('10,000 domains in a minute have room, also with several types each', () => {
  const totals = new ZoneTotals();
  for (let zone = 1; zone <= 10_000; zone++)
    for (const type of [1, 28, 15, 16, 2, 65]) totals.add(zone, type, 0, 1);
  expect(read(totals).size).toBe(60_000);
});

test('a zone that is asked more than thousands of others keeps its counts, whatever is asked of those', () => {
  const totals = new ZoneTotals(4096);
  totals.add(1, 1, 0, 3);
  totals.add(1, 28, 3, 1);
  for (let zone = 2; zone <= 20_000; zone++) totals.add(zone, 1 + (zone % 40), 0, 1);
  expect(totals.size).toBeLessThanOrEqual(4096);
  const counts = read(totals);
  expect([counts.get('1 1 0'), counts.get('1 28 3')]).toEqual([3, 1]);
  expect(counts.get(`${NO_ZONE} 0 0`)).toBeGreaterThan(13_000);
  expect(sum(counts.values())).toBe(4 + 19_999);
});

test('a zone loses its counts only to thousands that are each asked more often', () => {
  const totals = new ZoneTotals(4096);
  totals.add(1, 1, 0, 5);
  for (let zone = 2; zone <= 3000; zone++) totals.add(zone, 1, 0, 9);
  expect(totals.size).toBe(3000);
  for (let zone = 3001; zone <= 4200; zone++) totals.add(zone, 1, 0, 9);
  const counts = read(totals);
  expect(counts.get('1 1 0')).toBeUndefined();
  expect(sum(counts.values())).toBe(5 + 4199 * 9);
});
