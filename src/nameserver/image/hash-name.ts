// Hashes names. One pass over a name's octets, from the end, yields the hash of every suffix. The second multiplication
// ensures that no two names have the same hash for every secret: with one, differences in the top bits would cancel out.

import type { Name } from '../../dns/name.ts';
import { HEADER } from './layout.ts';

/** Mixes a chunk of four octets into a hash. `a` and `b` are the factors in the header. */
export function mixChunk(hash: number, chunk: number, a: number, b: number): number {
  const mixed = Math.imul(hash ^ chunk, a);
  return Math.imul(mixed ^ (mixed >>> 16), b);
}

/** Derives the two odd factors from 32 random bits. */
export function hashFactors(seed: number): { a: number; b: number } {
  return { a: spread(seed ^ 0x3c6ef372) | 1, b: spread(seed ^ 0x1b873593) | 1 };
}

/** Every bit of the result depends on every bit of the argument (finalizer of MurmurHash3). */
function spread(value: number): number {
  let bits = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return bits ^ (bits >>> 16);
}

const starts = new Uint8Array(128);

/** Returns the hash of a folded name for the image with this header. */
export function hashName(header: Int32Array, name: Name): number {
  const a = header[HEADER.HASH_FACTOR_A] as number;
  const b = header[HEADER.HASH_FACTOR_B] as number;
  let labels = 0;
  for (let i = 0; name.charCodeAt(i) !== 0; i += name.charCodeAt(i) + 1) starts[labels++] = i;
  let hash = header[HEADER.HASH_SEED] as number;
  let end = name.length - 1;
  while (labels > 0) {
    const start = starts[--labels] as number;
    for (let i = start; i < end; i += 4) hash = mixChunk(hash, chunkAt(name, i, end), a, b);
    end = start;
  }
  return hash;
}

function chunkAt(name: Name, at: number, end: number): number {
  let chunk = name.charCodeAt(at);
  if (at + 1 < end) chunk |= name.charCodeAt(at + 1) << 8;
  if (at + 2 < end) chunk |= name.charCodeAt(at + 2) << 16;
  if (at + 3 < end) chunk |= name.charCodeAt(at + 3) << 24;
  return chunk;
}
