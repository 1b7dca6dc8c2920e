import { describe, expect, it } from 'vitest';
import { Client } from '../../../src/nameserver/answer/client.ts';
import { QueryCounters } from '../../../src/nameserver/answer/query-counters.ts';
import { ReadSample } from '../../../src/nameserver/observe/sample-record.ts';
import { Sampler, type Samples } from '../../../src/nameserver/observe/sampler.ts';

const MIB = 1 << 20;
const NO_RANDOM = () => 0;

function samplerOf(interval: number, random?: () => number) {
  const pending = new SharedArrayBuffer(4);
  const counters = new QueryCounters();
  const posted: Samples[] = [];
  const sampler = new Sampler({ interval, pending }, counters, (samples) => posted.push(samples), random);
  const answerer = { client: new Client(), nowMs: 1000, answer: () => 0, rcode: 0, zoneLabels: 0 };
  const add = (octets = 100) => {
    const query = new Uint8Array(octets).fill(octets);
    const common = { port: 1, query, queryAt: 0, queryOctets: octets, startedAtMs: performance.now() };
    sampler.add(answerer, { ...common, answer: query, answerAt: 0, answerOctets: 0 });
  };
  return { sampler, answerer, add, counters, posted, pending: new Int32Array(pending) };
}

const countOf = (posted: readonly Samples[]) => posted.reduce((sum, { count }) => sum + count, 0);

describe('a sampler', () => {
  it('takes one in N answers on average, at random intervals', () => {
    const { sampler } = samplerOf(10);
    const intervals: number[] = [];
    let last = 0;
    for (let i = 1; i <= 20_000; i++) {
      if (!sampler.isDue(i * 1000)) continue;
      intervals.push(i - last);
      last = i;
    }
    expect(intervals.length).toBeGreaterThan(1700);
    expect(intervals.length).toBeLessThan(2300);
    expect(Math.min(...intervals)).toBe(1);
    expect(Math.max(...intervals)).toBe(19);
  });

  it('takes every answer if N is 1', () => {
    const { sampler } = samplerOf(1);
    expect([1, 2, 3].map((second) => sampler.isDue(second * 1000))).toEqual([true, true, true]);
  });

  it.each([
    ['200 samples', 10, 200],
    ['256 KiB', 10_000, 27],
  ])('takes at most %s in 100 ms, and counts the others', (_, octets, allowed) => {
    const { sampler, answerer, add, counters } = samplerOf(1);
    let taken = 0;
    const ask = (nowMs: number) => {
      answerer.nowMs = nowMs;
      if (!sampler.isDue(nowMs)) return;
      taken++;
      add(octets);
    };
    for (let i = 0; i < 500; i++) ask(1000 + (i % 100));
    expect([taken, counters.samplesLimited]).toEqual([allowed, 500 - allowed]);
    ask(1100);
    expect(taken).toBe(allowed + 1);
    ask(5); // the clock was set back
    expect(taken).toBe(allowed + 2);
  });

  it('posts copies when the buffer is full, when the first sample is old, and when asked', () => {
    const { sampler, add, posted, pending } = samplerOf(1, NO_RANDOM);
    for (let i = 0; i < 11; i++) add(6000);
    expect(posted.map(({ count }) => count)).toEqual([10]);
    sampler.flushOld(1249);
    expect(posted).toHaveLength(1);
    sampler.flushOld(1250);
    sampler.flush(); // nothing is left
    expect(posted.map(({ count }) => count)).toEqual([10, 1]);
    expect(pending[0]).toBe(posted.reduce((sum, { octets }) => sum + octets.length, 0));
    const sample = new ReadSample();
    const { octets } = posted[1] as Samples;
    expect(sample.read(octets, new DataView(octets.buffer), 0)).toBe(octets.length);
    expect(Buffer.from(sample.query).equals(Buffer.alloc(6000, 6000 & 255))).toBe(true);
  });

  it('drops and counts samples while 4 MiB have not been processed', () => {
    const { sampler, add, counters, posted, pending } = samplerOf(1);
    pending[0] = 4 * MIB;
    add();
    sampler.flush();
    expect([countOf(posted), counters.samplesLost]).toEqual([0, 1]);
    pending[0] = 0;
    add();
    sampler.flush();
    expect([countOf(posted), counters.samplesLost]).toEqual([1, 1]);
  });

  it('drops and counts a sample that is larger than the buffer', () => {
    const { sampler, add, counters, posted } = samplerOf(1);
    add(65_535);
    sampler.flush();
    expect([countOf(posted), counters.samplesLimited]).toEqual([0, 1]);
  });
});
