// The hash of a name in NSEC3 records (RFC 5155 §5). Callers must limit the iterations and the number of names.

import { createHash } from 'node:crypto';
import { encodeName, foldCase, type Name } from '../name.ts';

/** SHA-1, the only hash algorithm (RFC 5155 §11). */
export const NSEC3_SHA1 = 1;

export function nsec3Hash(name: Name, salt: Uint8Array, iterations: number): Uint8Array {
  let digest: Uint8Array = encodeName(foldCase(name));
  for (let i = 0; i <= iterations; i++) digest = createHash('sha1').update(digest).update(salt).digest();
  return digest;
}
