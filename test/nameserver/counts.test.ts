import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { type Name, parseName } from '../../src/dns/name.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import { CountedMinutes } from '../../src/nameserver/counts/counted-minutes.ts';
import {
  COUNTED_TYPES,
  countedIndex,
  countedType,
  OTHER_TYPE,
} from '../../src/nameserver/counts/counted-types.ts';
import { NameTotals } from '../../src/nameserver/counts/name-totals.ts';
import {
  type CountSink,
  SAMPLED,
  ZONE_COUNTS_BYTES,
  ZoneCounts,
} from '../../src/nameserver/counts/zone-counts.ts';
import { NO_ZONE, ZoneTotals } from '../../src/nameserver/counts/zone-totals.ts';
import { startThread } from '../../src/process/start-thread.ts';
import type { CountingWork } from '../support/answer/counting-thread.ts';

const MINUTE = 60_000;
const MOST_IN_PART = 4096;
const START = 1_800_000_000_000 - (1_800_000_000_000 % MINUTE);

/** Takes all waiting parts. */
function drain(counted: CountedMinutes, nowMs: number) {
  const parts = [];
  for (let part = counted.next(nowMs); part !== undefined; part = counted.next(nowMs)) {
    parts.push(part);
    counted.done(part);
  }
  return parts;
}

test('a minute is reported after its end, and includes counts from its last moment', () => {
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

test('a minute with many counts has several parts, each with its own number until it is reported', () => {
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

test('while Postgres is unavailable, minutes wait, and the oldest are dropped and counted after an hour or if there is no space', () => {
  const counted = new CountedMinutes(START, new ZoneTotals(), 10);
  for (let minute = 0; minute < 5; minute++) {
    for (let zone = 1; zone <= 4; zone++) counted.add(zone, 1, 0, 100);
    counted.turn(START + (minute + 1) * MINUTE);
  }
  expect(counted.dropped).toBe(3 * 400);
  expect(counted.next(START + 5 * MINUTE)?.minuteMs).toBe(START + 3 * MINUTE);
  const first = counted.next(START + 5 * MINUTE);
  expect(counted.next(START + 64 * MINUTE)?.minuteMs).toBe(START + 4 * MINUTE);
  counted.done(first!); // it was dropped while it was being reported
  expect(counted).toMatchObject({ dropped: 4 * 400, reported: 0 });
  expect(counted.next(START + 65 * MINUTE)).toBeUndefined();
  expect(counted.dropped).toBe(5 * 400);
});

test('answers not attributed to a zone are included in the sum', () => {
  const counted = new CountedMinutes(START);
  counted.addOther(7);
  counted.turn(START + MINUTE);
  const [part] = drain(counted, START + MINUTE);
  expect([...part!.zoneIds]).toEqual([NO_ZONE]);
  expect(counted).toMatchObject({ reported: 7, other: 7 });
});

test('every type with a name is counted individually, and all others together', () => {
  for (const [name, code] of Object.entries(TYPE)) {
    expect(COUNTED_TYPES[countedIndex(code)]).toBe(name);
    expect(countedType(code)).toBe(code);
  }
  for (const code of [0, 3, 300, 511, 512, 65280, 65535]) {
    expect(COUNTED_TYPES[countedIndex(code)]).toBe('other');
    expect(countedType(code)).toBe(OTHER_TYPE);
  }
});

const MOST_NAMES = 512;
const WWW = parseName('www.a.example.');

test('each sample of a name counts as the number of queries per sample', () => {
  const names = new NameTotals();
  for (let i = 0; i < 3; i++) names.add(1, WWW);
  expect(names.take()).toEqual([{ zoneId: 1, name: WWW, count: 3 * SAMPLED }]);
  expect(names.take()).toEqual([]);
});

test('random names of a zone displace neither its frequent names nor those of another zone', () => {
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

test('each of many zones gets its first name before any gets a second', () => {
  const names = new NameTotals();
  for (let zone = 1; zone <= 1500; zone++)
    for (let i = 0; i < 2; i++) names.add(zone, parseName(`n${i}.example.`));
  for (let i = 0; i < 9; i++) names.add(7777, WWW);
  const taken = names.take();
  expect(taken).toHaveLength(MOST_NAMES);
  expect(new Set(taken.map(({ zoneId }) => zoneId)).size).toBe(MOST_NAMES);
  expect(taken[0]).toEqual({ zoneId: 7777, name: WWW, count: 9 * SAMPLED });
});

const SLOTS = 2 ** 15;

function wordsOf(id: number): [low: number, high: number] {
  const [low, high] = new Int32Array(Float64Array.of(id).buffer);
  return [low as number, high as number];
}

class Sums implements CountSink {
  readonly counts: Record<string, number> = {};
  readonly names: string[] = [];
  other = 0;
  add(zoneId: number, type: number, rcode: number, count: number): void {
    const key = `${zoneId} ${type} ${rcode}`;
    this.counts[key] = (this.counts[key] ?? 0) + count;
  }
  addOther(count: number): void {
    this.other += count;
  }
  addName(zoneId: number, name: Name): void {
    this.names.push(`${zoneId} ${Buffer.from(name, 'latin1').toString('hex')}`);
  }
  get all(): number {
    return Object.values(this.counts).reduce((sum, count) => sum + count, this.other);
  }
}

function taken(counts: ZoneCounts): Sums {
  const sums = new Sums();
  counts.take(sums);
  return sums;
}

describe('counts by zone', () => {
  test('are grouped by zone, type and rcode, and restart at 0 after they are taken', () => {
    const counts = new ZoneCounts();
    const large = 2 ** 52 + 1;
    for (const id of [1, 2, large, large]) counts.count(...wordsOf(id), TYPE.A, 0);
    counts.count(...wordsOf(1), TYPE.AAAA, 3);
    expect(taken(new ZoneCounts(counts.buffer)).counts).toEqual({
      '1 1 0': 1,
      '2 1 0': 1,
      [`${large} 1 0`]: 2,
      '1 28 3': 1,
    });
    expect(taken(counts).all).toBe(0);
    counts.count(...wordsOf(2), TYPE.A, 0);
    expect(taken(counts).counts).toEqual({ '2 1 0': 1 });
  });

  test('are taken early only if the table is filling up; names are taken at each check', () => {
    const counts = new ZoneCounts();
    const taker = new ZoneCounts(counts.buffer);
    const early = () => {
      const sums = new Sums();
      taker.takeEarly(sums);
      return sums;
    };
    for (let round = 0; round < 2; round++) {
      for (let id = 1; id <= SLOTS / 4; id++) counts.count(...wordsOf(id), TYPE.A, 0);
      counts.sample(...wordsOf(1), Uint8Array.of(1, 97, 0), 3);
      expect(early()).toMatchObject({ all: 0, names: ['1 016100'] });
      for (let id = 1; id <= SLOTS / 2; id++) counts.count(...wordsOf(id), TYPE.A, 0);
      expect(early().all).toBe((3 * SLOTS) / 4);
      expect(early().all).toBe(0);
    }
  });

  test('use one entry for all types without a name, for any number of them', () => {
    const counts = new ZoneCounts();
    for (let type = 0; type < 65536; type++) if (type < 1 || type > 257) counts.count(...wordsOf(7), type, 0);
    expect(taken(counts).counts).toEqual({ '7 0 0': 65536 - 257 });
  });

  test('keep existing keys if the table is full, and count the rest without a zone', () => {
    const counts = new ZoneCounts();
    counts.count(...wordsOf(1), TYPE.A, 0);
    for (let id = 2; id <= 2 * SLOTS; id++) counts.count(...wordsOf(id), TYPE.A, 0);
    counts.count(...wordsOf(1), TYPE.A, 0);
    const sums = taken(counts);
    expect(sums.counts['1 1 0']).toBe(2);
    expect(sums.other).toBeGreaterThan(SLOTS - 1);
    expect(sums.all).toBe(2 * SLOTS + 1);
    expect(counts.buffer.byteLength).toBe(ZONE_COUNTS_BYTES);
    // taken keys free their slots
    for (let id = 100_000; id < 100_000 + SLOTS / 4; id++) counts.count(...wordsOf(id), TYPE.A, 0);
    expect(taken(counts).other).toBe(0);
  });

  test('sample the name of every 256th answer, up to the size of the ring', () => {
    const counts = new ZoneCounts();
    let sampled = 0;
    for (let i = 0; i < 10 * SAMPLED; i++) if (counts.isSampled()) sampled++;
    expect(sampled).toBe(10);
    const longest = parseName(`${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}.`);
    expect(longest.length).toBe(255);
    for (const name of [longest, parseName('www.a.example.')])
      counts.sample(...wordsOf(9), Uint8Array.from(Buffer.from(name, 'latin1')), name.length);
    const hex = (name: Name) => Buffer.from(name, 'latin1').toString('hex');
    expect(taken(counts).names).toEqual([`9 ${hex(longest)}`, `9 ${hex(parseName('www.a.example.'))}`]);
    for (let i = 0; i < 5000; i++) counts.sample(...wordsOf(9), Uint8Array.of(0), 1);
    expect(taken(counts).names).toHaveLength(512);
    expect(taken(counts).names).toEqual([]);
  });

  test('are exact while another thread counts', async () => {
    const counts = new ZoneCounts();
    const EACH = 20;
    const ZONES = 500;
    const work: CountingWork = { buffer: counts.buffer, rounds: EACH, zones: ZONES };
    const module = new URL('../support/answer/counting-thread.ts', import.meta.url);
    const thread = startThread('counting', module, work);
    await once(thread, 'message');
    let isDone = false;
    const ended = once(thread, 'message').then(() => {
      isDone = true;
    });
    thread.postMessage('go');
    const sums = new Sums();
    while (!isDone) {
      counts.take(sums);
      await new Promise((turn) => setImmediate(turn));
    }
    await ended;
    counts.take(sums);
    await thread.terminate();
    expect(sums.other).toBe(0);
    expect(Object.keys(sums.counts)).toHaveLength(2 * ZONES);
    expect(new Set(Object.values(sums.counts))).toEqual(new Set([EACH / 2]));
  });
});

function read(totals: ZoneTotals): Map<string, number> {
  const { zoneIds, types, rcodes, counts } = totals.take();
  return new Map(Array.from(zoneIds, (id, i) => [`${id} ${types[i]} ${rcodes[i]}`, counts[i] as number]));
}
const sum = (of: Iterable<number>) => [...of].reduce((all, count) => all + count, 0);

test('counts of one key are added, and are cleared when they are taken', () => {
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

test('if the table is full, the rarer types of each zone are merged, and each zone keeps its total', () => {
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

test('10,000 domains per minute fit, even with several types each', () => {
  const totals = new ZoneTotals();
  for (let zone = 1; zone <= 10_000; zone++)
    for (const type of [1, 28, 15, 16, 2, 65]) totals.add(zone, type, 0, 1);
  expect(read(totals).size).toBe(60_000);
});

test('a zone with more queries than thousands of others keeps its counts, whatever the others receive', () => {
  const totals = new ZoneTotals(4096);
  totals.add(1, 1, 0, 3);
  totals.add(1, 28, 3, 1);
  for (let zone = 2; zone <= 10_000; zone++) totals.add(zone, 1 + (zone % 40), 0, 1);
  expect(totals.size).toBeLessThanOrEqual(4096);
  const counts = read(totals);
  expect([counts.get('1 1 0'), counts.get('1 28 3')]).toEqual([3, 1]);
  expect(counts.get(`${NO_ZONE} 0 0`)).toBeGreaterThan(5000);
  expect(sum(counts.values())).toBe(4 + 9999);
});

test('a zone loses its counts only to thousands of zones that each have more queries', () => {
  const totals = new ZoneTotals(4096);
  totals.add(1, 1, 0, 5);
  for (let zone = 2; zone <= 3000; zone++) totals.add(zone, 1, 0, 9);
  expect(totals.size).toBe(3000);
  for (let zone = 3001; zone <= 4200; zone++) totals.add(zone, 1, 0, 9);
  const counts = read(totals);
  expect(counts.get('1 1 0')).toBeUndefined();
  expect(sum(counts.values())).toBe(5 + 4199 * 9);
});
