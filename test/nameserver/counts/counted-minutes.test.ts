import { expect, test } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { CountedMinutes } from '../../../src/nameserver/counts/counted-minutes.ts';
import { NO_ZONE, ZoneTotals } from '../../../src/nameserver/counts/zone-totals.ts';

const MINUTE = 60_000;
const MOST_IN_PART = 4096;
const START = 1_800_000_000_000 - (1_800_000_000_000 % MINUTE);

/** Takes all that waits. */
function drain(counted: CountedMinutes, nowMs: number) {
  const parts = [];
  for (let part = counted.next(nowMs); part !== undefined; part = counted.next(nowMs)) {
    parts.push(part);
    counted.done(part);
  }
  return parts;
}

test('a minute is reported when it is over, and what comes in its last moment belongs to it', () => {
  const counted = new CountedMinutes(START + 100);
  counted.add(1, 1, 0, 2);
  counted.turn(START + 59_999);
  expect(counted.hasNext).toBe(false);
  counted.add(1, 1, 0, 1);
  counted.addName(1, parseName('www.a.example.'));
  counted.turn(START + MINUTE + 20);
  expect(counted.hasNext).toBe(true);
  const [part] = drain(counted, START + MINUTE + 20);
  expect(part).toMatchObject({ minuteMs: START, part: 0, names: [{ zoneId: 1, count: 256 }] });
  expect([...part!.counts]).toEqual([3]);
  expect(counted).toMatchObject({ reported: 3, other: 0, dropped: 0, hasNext: false });
});

test('a minute is several parts when it has many counts, each with a number of its own, until it was reported', () => {
  const counted = new CountedMinutes(START);
  for (let zone = 1; zone <= 2 * MOST_IN_PART + 5; zone++) counted.add(zone, 1, 0, 1);
  counted.addName(1, parseName('www.a.example.'));
  counted.close();
  counted.add(1, 1, 0, 1);
  counted.close(); // the same minute: the node is being stopped
  expect(counted.next(START)).toBe(counted.next(START));
  const parts = drain(counted, START);
  expect(parts.map(({ part, zoneIds, names }) => [part, zoneIds.length, names.length])).toEqual([
    [0, MOST_IN_PART, 1],
    [1, MOST_IN_PART, 0],
    [2, 5, 0],
    [3, 1, 0],
  ]);
});

test('while Postgres is away minutes wait, and the oldest are dropped and counted when there is no room or after an hour', () => {
  const counted = new CountedMinutes(START, new ZoneTotals(), 10);
  for (let minute = 0; minute < 5; minute++) {
    for (let zone = 1; zone <= 4; zone++) counted.add(zone, 1, 0, 100);
    counted.turn(START + (minute + 1) * MINUTE);
  }
  expect(counted.dropped).toBe(3 * 400);
  expect(counted.next(START + 5 * MINUTE)?.minuteMs).toBe(START + 3 * MINUTE);
  const first = counted.next(START + 5 * MINUTE);
  expect(counted.next(START + 64 * MINUTE)?.minuteMs).toBe(START + 4 * MINUTE);
  counted.done(first!); // it was dropped while it was under way
  expect(counted).toMatchObject({ dropped: 4 * 400, reported: 0 });
  expect(counted.next(START + 65 * MINUTE)).toBeUndefined();
  expect(counted.dropped).toBe(5 * 400);
});

test('answers whose zone is not told apart stay in the sum', () => {
  const counted = new CountedMinutes(START);
  counted.addOther(7);
  counted.turn(START + MINUTE);
  const [part] = drain(counted, START + MINUTE);
  expect([...part!.zoneIds]).toEqual([NO_ZONE]);
  expect(counted).toMatchObject({ reported: 7, other: 7 });
});
