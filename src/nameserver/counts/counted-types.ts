// Record types that are counted individually. All others are counted together, so that queries for random types need no
// memory.

import { TYPE } from '../../dns/type-codes.ts';

/** The counted types. The last entry stands for all others. */
export const COUNTED_TYPES: readonly string[] = [...Object.keys(TYPE), 'other'];
/** Stands for all types that are not counted individually. No record has type 0 (RFC 6895 §3.1). */
export const OTHER_TYPE = 0;

const OTHER = COUNTED_TYPES.length - 1;
const MAX_COUNTED_TYPE = 512;

const indexes = new Uint8Array(MAX_COUNTED_TYPE).fill(OTHER);
for (const [index, code] of Object.values(TYPE).entries()) indexes[code] = index;

/** Returns the index into COUNTED_TYPES. */
export function countedIndex(type: number): number {
  return type < MAX_COUNTED_TYPE ? (indexes[type] as number) : OTHER;
}

/** Returns the type if it is counted individually, else OTHER_TYPE. */
export function countedType(type: number): number {
  return countedIndex(type) === OTHER ? OTHER_TYPE : type;
}
