import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BrokenRing, linkAll, linkDenials } from '../../../src/zone/signing/link-denials.ts';
import { scale } from '../../support/tests/scale.ts';

const ring = (places: string) => linkAll(places);
const change = (standing: string, read: string, come: string, gone: string) => {
  const whole = ring(standing);
  const known = new Map([...read].map((place) => [place, whole.get(place) as string]));
  return Object.fromEntries(linkDenials({ standing: known, come, gone: new Set(gone) }));
};

describe('the ring of denials', () => {
  it('closes at its first place', () => {
    expect(Object.fromEntries(ring('cab'))).toEqual({ a: 'b', b: 'c', c: 'a' });
    expect(Object.fromEntries(ring('a'))).toEqual({ a: 'a' });
  });

  it('is refused where what was read cannot be a ring', () => {
    expect(() => change('aceg', '', 'b', '')).toThrow(BrokenRing);
    expect(() => change('aceg', 'a', 'd', '')).toThrow(BrokenRing);
    expect(() => change('aceg', 'ae', '', 'e')).toThrow(BrokenRing);
    const hole = new Map([
      ['a', 'd'],
      ['c', 'e'],
    ]);
    expect(() => linkDenials({ standing: hole, come: [], gone: new Set('c') })).toThrow(BrokenRing);
  });

  it('is the ring of all places, whatever comes and goes, from the places before those that do', () => {
    const place = fc.integer({ min: 97, max: 122 }).map((code) => String.fromCharCode(code));
    const places = fc.uniqueArray(place, { minLength: 1 });
    fc.assert(
      fc.property(
        places,
        fc.uniqueArray(place),
        fc.infiniteStream(fc.boolean()),
        (standing, drawn, coins) => {
          const whole = ring(standing.join(''));
          const come = drawn.filter((each) => !whole.has(each));
          const gone = new Set(standing.filter(() => coins.next().value));
          if (come.length + standing.length === gone.size) return;
          const sorted = standing.toSorted();
          const before = (of: string) => sorted.findLast((each) => each < of) ?? (sorted.at(-1) as string);
          const read = new Set([...gone, ...[...come, ...gone].map(before)]);
          const known = new Map([...read].map((each) => [each, whole.get(each) as string]));
          if (known.size === 0) return;
          const linked = linkDenials({ standing: known, come, gone });
          const after = new Map([...whole].filter(([each]) => !gone.has(each)));
          for (const [each, next] of linked) after.set(each, next);
          const expected = ring([...standing.filter((each) => !gone.has(each)), ...come].join(''));
          expect(Object.fromEntries(after)).toEqual(Object.fromEntries(expected));
        },
      ),
      { numRuns: scale(2000, 500) },
    );
  });
});
