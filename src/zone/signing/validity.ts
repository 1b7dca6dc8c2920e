// From when to when signatures are valid, and when they are made anew. Clocks of resolvers are wrong, and a zone must stay
// valid for days in which nothing can be signed. All times are seconds since 1970.

import { createHash } from 'node:crypto';
import { encodeName, foldCase, type Name } from '../../dns/name.ts';

export interface SignatureTimes {
  readonly inception: number;
  readonly expiration: number;
}

const HOUR = 3600;
const DAY = 24 * HOUR;
/** For resolvers whose clocks are slow. */
const EARLY = 3 * HOUR;
const VALIDITY = 16 * DAY;
const SPREAD = 2 * DAY;
/** Eight days without a signer, and the largest TTL: plain caches keep a signature for so long (RFC 4035 §5.3.3). */
const LEAST_LEFT = 9 * DAY;
/** What would be due so soon is made anew along with what is due. */
const ALONG = 2 * DAY;

/**
 * Of signatures made at `at`. Those of one zone and day end together, and those of different zones do not. `salt` tells apart
 * pieces of a large zone.
 */
export function signatureTimes(zone: Name, at: number, salt = 0): SignatureTimes {
  const day = Math.floor(at / DAY);
  const numbers = Buffer.alloc(12);
  numbers.writeDoubleBE(day);
  numbers.writeUInt32BE(salt, 8);
  const hash = createHash('sha256')
    .update(encodeName(foldCase(zone)))
    .update(numbers)
    .digest();
  const early = Math.floor((hash.readUInt32BE() / 2 ** 32) * SPREAD);
  return { inception: at - EARLY, expiration: at + VALIDITY - early };
}

/** When a signature is due to be made anew. */
export function dueAt(expiration: number): number {
  return expiration - LEAST_LEFT;
}

/** Signatures that end before this are made anew: by an edit those that are due, by a refresh also those due soon. */
export function remakeBefore(at: number, by: 'edit' | 'refresh'): number {
  return at + LEAST_LEFT + (by === 'refresh' ? ALONG : 0);
}
