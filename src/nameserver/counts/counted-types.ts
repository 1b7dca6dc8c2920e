// The types that are counted one by one. All others are counted together, so that random types cost nothing.

import { TYPE } from '../../dns/type-codes.ts';

/** The counted types; the last one stands for all others. */
export const COUNTED_TYPES: readonly string[] = [...Object.keys(TYPE), 'other'];
/** What is counted of a type that is none of them: no record has the type 0 (RFC 6895 §3.1). */
export const OTHER_TYPE = 0;

const OTHER = COUNTED_TYPES.length - 1;
const MAX_COUNTED_TYPE = 512;

const indexes = new Uint8Array(MAX_COUNTED_TYPE).fill(OTHER);
for (const [index, code] of Object.values(TYPE).entries()) indexes[code] = index;

/** Into COUNTED_TYPES. */
export function countedIndex(type: number): number {
  return type < MAX_COUNTED_TYPE ? (indexes[type] as number) : OTHER;
}

/** The type itself if it is counted, else OTHER_TYPE. */
export function countedType(type: number): number {
  return countedIndex(type) === OTHER ? OTHER_TYPE : type;
}
