import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ZoneIds } from '../../../src/nameserver/follow/zone-ids.ts';

const id = fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }));
const step = fc.record({ id, ref: fc.integer({ min: 1, max: 2 ** 31 - 1 }), gone: fc.boolean() });

test('whatever comes and goes, the table holds what a Map would', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 3000 }), (steps) => {
      const ids = new ZoneIds();
      const map = new Map<number, number>();
      for (const { id, ref, gone } of steps) {
        if (gone) {
          ids.delete(id);
          map.delete(id);
        } else {
          ids.set(id, ref);
          map.set(id, ref);
        }
        expect(ids.get(id)).toBe(map.get(id) ?? 0);
      }
      expect(ids.size).toBe(map.size);
      expect(new Set(ids.ids())).toEqual(new Set(map.keys()));
      for (const [id, ref] of map) expect(ids.get(id)).toBe(ref);
    }),
    { numRuns: 60 },
  );
});

test('a hundred thousand ids that are counted up are found, and gone when all is cleared', () => {
  const ids = new ZoneIds();
  for (let id = 1; id <= 100_000; id++) ids.set(id, id * 3);
  for (let id = 2; id <= 100_000; id += 2) ids.delete(id);
  expect(ids.size).toBe(50_000);
  for (let id = 1; id <= 100_000; id++)
    if (ids.get(id) !== (id % 2 === 1 ? id * 3 : 0)) throw new Error(`${id}`);
  ids.clear();
  expect([ids.size, ids.get(1)]).toEqual([0, 0]);
});
