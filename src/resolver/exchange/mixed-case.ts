// Randomizes the letter case of a query name (draft-vixie-dnsext-dns0x20). A reply repeats it, so a forger must guess one
// more bit per letter.

import { HEADER_OCTETS } from '../../dns/message/header.ts';

/** Number of random octets sufficient for any name. */
export const MIXING_BYTES = 32;

/**
 * Changes the query name in `query`: bit i of `random` decides the case of octet i. Returns true if the name then has a
 * capital letter.
 */
export function mixCase(query: Uint8Array, random: Uint8Array): boolean {
  let left = 0;
  let hasCapitals = false;
  for (let i = 0; ; i++) {
    const octet = query[HEADER_OCTETS + i] as number;
    if (left === 0) {
      if (octet === 0) return hasCapitals;
      left = octet;
      continue;
    }
    left--;
    const lower = octet | 0x20;
    if (lower < 0x61 || lower > 0x7a) continue;
    const isUpper = (((random[i >> 3] as number) >> (i & 7)) & 1) === 1;
    hasCapitals ||= isUpper;
    query[HEADER_OCTETS + i] = isUpper ? lower & ~0x20 : lower;
  }
}
