import { describe, expect, it } from 'vitest';
import { AskedMarks } from '../../../../src/zone/image/find/asked-marks.ts';
import { randomFrom } from '../../../support/random/random-zones.ts';

const MARKS = 2 ** 15;
const anyHash = (random: () => number) => Math.floor((random() - 0.5) * 2 ** 32) | 1;

describe('marks of zones that are asked for', () => {
  it('are taken once, however often they are noted, by whichever thread', () => {
    const marks = new AskedMarks();
    const thread = new AskedMarks(marks.buffer);
    for (const hash of [7, -7, 7, 2 ** 31 - 1]) (hash < 0 ? thread : marks).note(hash);
    expect(thread.take().sort((a, b) => a - b)).toEqual([-7, 7, 2 ** 31 - 1]);
    expect(marks.take()).toEqual([]);
    marks.note(7);
    expect(marks.take()).toEqual([7]);
  });

  it('stay in the memory that they have, whatever is asked for', () => {
    const marks = new AskedMarks();
    const random = randomFrom(1);
    for (let i = 0; i < 4 * MARKS; i++) marks.note(anyHash(random));
    const taken = marks.take();
    expect(taken.length).toBeLessThanOrEqual(MARKS);
    expect(taken.length).toBeGreaterThan(0.9 * MARKS);
    expect(marks.buffer.byteLength).toBe(4 * MARKS);
  });

  it('of three thousand names that an attacker has hide hardly any other', () => {
    let lost = 0;
    for (let seed = 1; seed <= 1000; seed++) {
      const random = randomFrom(seed);
      const marks = new AskedMarks();
      if (seed % 100 === 1) for (let i = 0; i < 3000; i++) marks.note(anyHash(random));
      const other = anyHash(random);
      marks.note(other);
      if (!marks.take().includes(other)) lost++;
    }
    expect(lost).toBe(0);
  });
});
