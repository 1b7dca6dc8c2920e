// Which zones that are asked for a node reports.

import { describe, expect, it } from 'vitest';
import { AskedZones } from '../../../src/nameserver/follow/asked-zones.ts';
import { randomFrom } from '../../support/random/random-zones.ts';

const ids = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i);

describe('a node', () => {
  it('reports a zone once, and again after half a minute if it is asked for again', () => {
    const asked = new AskedZones();
    asked.note([1], 0);
    asked.note([1], 1);
    expect(asked.hasNext(1)).toBe(true);
    expect(asked.take(1)).toEqual([1]);
    expect([asked.hasNext(2), asked.take(2)]).toEqual([false, []]);
    asked.note([1], 10_000);
    expect([asked.hasNext(10_000), asked.take(10_000)]).toEqual([false, []]);
    // A client whose resolver keeps the answer asks no second time: the question waits.
    expect(asked.take(30_001)).toEqual([1]);
    expect([asked.reported, asked.dropped]).toEqual([2, 0]);
  });

  it('reports a hundred in ten seconds at the most, the others then', () => {
    const asked = new AskedZones();
    asked.note(ids(1, 250), 0);
    const first = asked.take(0);
    expect(first.length).toBe(100);
    for (let now = 250; now < 10_000; now += 250) {
      expect(asked.hasNext(now)).toBe(false);
      expect(asked.take(now)).toEqual([]);
    }
    const second = asked.take(10_000);
    const third = asked.take(20_000);
    expect(new Set([...first, ...second, ...third]).size).toBe(250);
  });

  it('reports a name that was quiet before all those that are asked for without end', () => {
    const asked = new AskedZones(randomFrom(1));
    for (let now = 0; now < 240_000; now += 1000) {
      asked.note(ids(1, 1500), now);
      const taken = asked.take(now);
      // At any moment, since repeated reports never take all of a window.
      if (now < 200_000) continue;
      expect(taken.length).toBeLessThanOrEqual(50);
      asked.note([9000 + now], now);
      expect(asked.take(now)).toEqual([9000 + now]);
    }
  });

  it('among more quiet names than it may report hides none for good', () => {
    let reported = 0;
    for (let seed = 1; seed <= 50; seed++) {
      const asked = new AskedZones(randomFrom(seed));
      // The attacker's are always first.
      asked.note(ids(1, 400), 0);
      asked.note([9999], 1);
      if (asked.take(1).includes(9999)) reported++;
    }
    expect(reported).toBeGreaterThan(3);
    expect(reported).toBeLessThan(30);
  });

  it('drops what could not be reported for a minute, and counts it', () => {
    const asked = new AskedZones();
    asked.note([1, 2], 0);
    expect(asked.take(60_000)).toEqual([]);
    expect([asked.reported, asked.dropped]).toEqual([0, 2]);
  });

  it('keeps no more than two thousand that wait, whoever asks', () => {
    const asked = new AskedZones();
    for (let at = 0; at < 20; at++) asked.note(ids(1 + 1000 * at, 1000), at);
    expect(asked.dropped).toBe(18_000);
    expect(asked.take(100).every((id) => id > 18_000)).toBe(true);
  });

  it('reports again what found no room, and counts what was lost', () => {
    const asked = new AskedZones();
    asked.note([1, 2], 0);
    expect(asked.take(0).length).toBe(2);
    asked.putBack([2], 1);
    expect([asked.reported, asked.take(2)]).toEqual([1, [2]]);
    asked.lose(1);
    expect([asked.reported, asked.dropped]).toEqual([1, 1]);
  });
});
