// When removals are held: more than half of the zones and at least 100, within 60 s.

import { describe, expect, test } from 'vitest';
import { type Name, parseName } from '../../../src/dns/name.ts';
import { RemovalHold } from '../../../src/nameserver/follow/hold-removals.ts';

const apexes = (from: number, to: number): Name[] =>
  Array.from({ length: to - from }, (_, i) => parseName(`z${from + i}.example.`));

function holdAt() {
  const clock = { ms: 1_000_000 };
  return { clock, hold: new RemovalHold(() => clock.ms) };
}

describe('removals', () => {
  test.each([
    [99, 99, false],
    [100, 199, true],
    [100, 200, false],
    [101, 200, true],
    [5000, 10_000, false],
    [5001, 10_000, true],
  ])('%i of %i at once: held is %s', (removed, served, held) => {
    const { hold } = holdAt();
    expect(hold.admit(apexes(0, removed), served)).toHaveLength(held ? 0 : removed);
    expect(hold.state()?.zones).toBe(held ? removed : undefined);
  });

  test('within 60 s many small ones are one large one; what went before stays gone', () => {
    const { hold, clock } = holdAt();
    let served = 300;
    for (let i = 0; i < 15; i++) {
      served -= hold.admit(apexes(i * 10, i * 10 + 10), served).length;
      clock.ms += 3999;
    }
    expect(served).toBe(150);
    expect(hold.admit(apexes(150, 151), served)).toEqual([]);
    expect(hold.state()?.zones).toBe(1);
  });

  test('over a longer time they are not', () => {
    const { hold, clock } = holdAt();
    let served = 300;
    for (let i = 0; i < 28; i++) {
      served -= hold.admit(apexes(i * 10, i * 10 + 10), served).length;
      clock.ms += 10_000;
    }
    expect(served).toBe(20);
  });

  test('zones that come back do not count, however often they go', () => {
    const { hold } = holdAt();
    for (let round = 0; round < 20; round++) {
      expect(hold.admit(apexes(0, 60), 150)).toHaveLength(60);
      for (const apex of apexes(0, 60)) hold.dissolve(apex);
    }
  });

  test('once held, every further removal is held, and nothing twice', () => {
    const { hold } = holdAt();
    hold.admit(apexes(0, 120), 150);
    expect(hold.admit(apexes(100, 121), 150)).toEqual([]);
    expect(hold.state()?.zones).toBe(121);
  });

  test('only the hold that was confirmed is released, and then counts no further', () => {
    const { hold } = holdAt();
    hold.admit(apexes(0, 120), 150);
    const id = hold.state()?.id as string;
    expect(hold.confirm(null)).toEqual([]);
    expect(hold.confirm('another')).toEqual([]);
    hold.dissolve(parseName('z3.example.'));
    expect(hold.confirm(id)).toHaveLength(119);
    expect(hold.state()).toBeUndefined();
    expect(hold.admit(apexes(120, 125), 31)).toHaveLength(5);
    hold.admit(apexes(0, 120), 150);
    expect(hold.state()?.id).not.toBe(id);
  });

  test('the last one that comes back ends the hold', () => {
    const { hold } = holdAt();
    hold.admit(apexes(0, 120), 150);
    for (const apex of apexes(0, 120)) hold.dissolve(apex);
    expect(hold.state()).toBeUndefined();
    expect(hold.admit(apexes(0, 5), 150)).toHaveLength(5);
  });
});
