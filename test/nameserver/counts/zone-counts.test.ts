// One thread counts while another takes: nothing is lost, nothing is counted for another zone.

import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { type Name, parseName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import {
  type CountSink,
  SAMPLED,
  ZONE_COUNTS_BYTES,
  ZoneCounts,
} from '../../../src/nameserver/counts/zone-counts.ts';
import { startThread } from '../../../src/process/start-thread.ts';
import type { CountingWork } from '../../support/answer/counting-thread.ts';

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
  test('are by zone, type and rcode, and start again once they were taken', () => {
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

  test('are taken early once the table is filling, and not before; names are taken at each look', () => {
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

  test('have one place for all types without a name, however many are asked for', () => {
    const counts = new ZoneCounts();
    for (let type = 0; type < 65536; type++) if (type < 1 || type > 257) counts.count(...wordsOf(7), type, 0);
    expect(taken(counts).counts).toEqual({ '7 0 0': 65536 - 257 });
  });

  test('keep what has a place when there is no room for more, and count the rest without a zone', () => {
    const counts = new ZoneCounts();
    counts.count(...wordsOf(1), TYPE.A, 0);
    for (let id = 2; id <= 3 * SLOTS; id++) counts.count(...wordsOf(id), TYPE.A, 0);
    counts.count(...wordsOf(1), TYPE.A, 0);
    const sums = taken(counts);
    expect(sums.counts['1 1 0']).toBe(2);
    expect(sums.other).toBeGreaterThan(2 * SLOTS - 1);
    expect(sums.all).toBe(3 * SLOTS + 1);
    expect(counts.buffer.byteLength).toBe(ZONE_COUNTS_BYTES);
    // who is taken leaves its place to others
    for (let id = 100_000; id < 100_000 + SLOTS / 4; id++) counts.count(...wordsOf(id), TYPE.A, 0);
    expect(taken(counts).other).toBe(0);
  });

  test('take names from every 256th answer, and no more than there is room for', () => {
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
    const EACH = 40;
    const ZONES = 6000;
    const work: CountingWork = { buffer: counts.buffer, rounds: EACH, zones: ZONES };
    const module = new URL('../../support/answer/counting-thread.ts', import.meta.url);
    const thread = startThread('counting', module, work);
    let isDone = false;
    const ended = once(thread, 'message').then(() => {
      isDone = true;
    });
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
