// The validity of signatures, and when they are renewed. Tolerates wrong clocks of resolvers, and days in which nothing
// can be signed. All times are seconds since 1970.

import { createHash } from 'node:crypto';
import { encodeName, foldCase, type Name } from '../../dns/name.ts';

export interface SignatureTimes {
  readonly inception: number;
  readonly expiration: number;
}

const HOUR = 3600;
const DAY = 24 * HOUR;
/** Tolerance for resolvers with slow clocks. */
const EARLY = 3 * HOUR;
const VALIDITY = 16 * DAY;
const SPREAD = 2 * DAY;
/** Eight days without a signer, plus the largest TTL, for which plain caches keep a signature (RFC 4035 §5.3.3). */
const LEAST_LEFT = 9 * DAY;
/** Signatures due this soon are renewed together with those that are due. */
const ALONG = 2 * DAY;

/**
 * Returns the times of signatures made at `at`. Those of one zone and day expire together, and those of different zones
 * do not. `salt` distinguishes pieces of a large zone.
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

/** Returns the time at which a signature is due for renewal. */
export function dueAt(expiration: number): number {
  return expiration - LEAST_LEFT;
}

/** Returns the limit before which expiring signatures are renewed. A refresh also renews those due soon. */
export function remakeBefore(at: number, by: 'edit' | 'refresh'): number {
  return at + LEAST_LEFT + (by === 'refresh' ? ALONG : 0);
}
