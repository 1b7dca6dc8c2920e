// Checks rdata of the types that every signed name has, like `checkRdata` but without decoding it: a million zones have
// tens of millions of these records.

import { MAX_NAME_OCTETS } from '../../../dns/name.ts';

const MAX_LABEL_OCTETS = 63;
/** Octets of RRSIG before the signer's name (RFC 4034 §3.1). */
const SIGNER_AT = 18;
const MAX_WINDOW_OCTETS = 32;

/** Returns true for an uncompressed signer's name followed by a signature (RFC 4034 §3.1). */
export function isRrsig(octets: Uint8Array, from: number, to: number): boolean {
  const end = endOfPlainName(octets, from + SIGNER_AT, to);
  return end >= 0 && end < to;
}

/** Returns true for an uncompressed name followed by a non-empty bitmap of types (RFC 4034 §4.1). */
export function isNsec(octets: Uint8Array, from: number, to: number): boolean {
  const end = endOfPlainName(octets, from, to);
  return end >= 0 && end < to && isTypeBitmap(octets, end, to);
}

/** Returns the end of the uncompressed name at `from`, or -1 if it does not end before `to`. */
function endOfPlainName(octets: Uint8Array, from: number, to: number): number {
  for (let at = from; at < to; ) {
    const label = octets[at] as number;
    if (label > MAX_LABEL_OCTETS) return -1;
    at += label + 1;
    if (at > to || at - from > MAX_NAME_OCTETS) return -1;
    if (label === 0) return at;
  }
  return -1;
}

/** Returns true for rising windows, none of which ends in a zero octet (RFC 4034 §4.1.2). */
function isTypeBitmap(octets: Uint8Array, from: number, to: number): boolean {
  let before = -1;
  for (let at = from; at < to; ) {
    const window = octets[at] as number;
    const length = octets[at + 1] as number;
    const end = at + 2 + length;
    if (window <= before || at + 1 >= to || length === 0 || length > MAX_WINDOW_OCTETS || end > to)
      return false;
    if (octets[end - 1] === 0) return false;
    before = window;
    at = end;
  }
  return true;
}
