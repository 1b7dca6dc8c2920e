// Sizes of blocks: every multiple of 8 bytes up to 1 KiB, then 16 sizes per doubling, so that at most a sixteenth of a
// block is unused. A block's size follows from its content and is not stored.

import { SEGMENT_UNITS } from './layout.ts';

const EXACT_UNITS = 128;
const EXACT_LOG2 = 7;
const STEPS_LOG2 = 4;

/** Returns the class of the smallest blocks that hold this many units. */
export function classFor(units: number): number {
  if (units <= EXACT_UNITS) return units;
  const log2 = 31 - Math.clz32(units - 1);
  const steps = ((units - 1) >> (log2 - STEPS_LOG2)) + 1; // 17 to 32
  return EXACT_UNITS + ((log2 - EXACT_LOG2) << STEPS_LOG2) + steps - 16;
}

/** Returns the units of a block of this class. */
export function unitsOfClass(sizeClass: number): number {
  if (sizeClass <= EXACT_UNITS) return sizeClass;
  const above = sizeClass - EXACT_UNITS - 1;
  return (17 + (above & 15)) << ((above >> STEPS_LOG2) + EXACT_LOG2 - STEPS_LOG2);
}

export const SIZE_CLASSES = classFor(SEGMENT_UNITS) + 1;

/** Returns the class of the largest blocks that fit into this many units (at least 1). */
export function classWithin(units: number): number {
  const sizeClass = classFor(units);
  return unitsOfClass(sizeClass) === units ? sizeClass : sizeClass - 1;
}
