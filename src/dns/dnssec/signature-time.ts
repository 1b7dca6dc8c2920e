// Whether a signature is in its time (RFC 4034 §3.1.5): serial number arithmetic over seconds since 1970.

import type { Signature } from './signed-octets.ts';

/** Negative when `to` is before `from`. */
export function secondsBetween(from: number, to: number): number {
  return (to - from) | 0;
}

/** `skewOf`: by how many seconds the clock may be wrong, for a signature that lives so long. */
export function timeFault(
  { inception, expiration }: Signature,
  at: number,
  skewOf: (life: number) => number,
): string | undefined {
  const life = secondsBetween(inception, expiration);
  if (life < 0) return 'a signature ends before it begins';
  const skew = skewOf(life);
  if (secondsBetween(inception, at) < -skew) return 'a signature is not valid yet';
  return secondsBetween(at, expiration) < -skew ? 'a signature has expired' : undefined;
}
