// Checks the validity period of signatures (RFC 4034 §3.1.5), with serial number arithmetic over seconds since 1970.

import type { Signature } from './signed-octets.ts';

/** Returns a negative number if `to` is before `from`. */
export function secondsBetween(from: number, to: number): number {
  return (to - from) | 0;
}

/** @param skewOf returns the tolerated clock error in seconds for a signature with this lifetime */
export function timeFault(
  { inception, expiration }: Signature,
  at: number,
  skewOf: (life: number) => number,
): string | undefined {
  const life = secondsBetween(inception, expiration);
  if (life < 0) return 'a signature expires before its inception';
  const skew = skewOf(life);
  if (secondsBetween(inception, at) < -skew) return 'a signature is not valid yet';
  return secondsBetween(at, expiration) < -skew ? 'a signature has expired' : undefined;
}
