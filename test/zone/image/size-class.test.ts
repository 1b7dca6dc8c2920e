// Which blocks there are: the smallest that holds what is asked for is never much larger.

import { describe, expect, it } from 'vitest';
import { SEGMENT_UNITS } from '../../../src/zone/image/layout.ts';
import { classFor, classWithin, SIZE_CLASSES, unitsOfClass } from '../../../src/zone/image/size-class.ts';

const SIZES = [
  ...Array.from({ length: 5000 }, (_, i) => i + 1),
  ...Array.from({ length: 27 }, (_, i) => [2 ** i - 1, 2 ** i, 2 ** i + 1]).flat(),
  SEGMENT_UNITS,
].filter((units) => units >= 1 && units <= SEGMENT_UNITS);

describe('size classes', () => {
  it('rise one by one', () => {
    for (let sizeClass = 2; sizeClass < SIZE_CLASSES; sizeClass++) {
      expect(unitsOfClass(sizeClass)).toBeGreaterThan(unitsOfClass(sizeClass - 1));
    }
    expect(unitsOfClass(SIZE_CLASSES - 1)).toBe(SEGMENT_UNITS);
  });

  it('are exact up to 1 KiB and lose at most a sixteenth above', () => {
    for (const units of SIZES) {
      const held = unitsOfClass(classFor(units));
      if (units <= 128) expect(held).toBe(units);
      expect(held).toBeGreaterThanOrEqual(units);
      expect(held).toBeLessThanOrEqual(units + units / 16);
      expect(unitsOfClass(classFor(units) - 1)).toBeLessThan(units);
    }
  });

  it('have a largest one within every size', () => {
    for (const units of SIZES) {
      const within = classWithin(units);
      expect(unitsOfClass(within)).toBeLessThanOrEqual(units);
      if (within + 1 < SIZE_CLASSES) expect(unitsOfClass(within + 1)).toBeGreaterThan(units);
    }
  });
});
