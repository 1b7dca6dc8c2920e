// Whether rdata of the types that every signed name has is well formed, as `checkRdata` finds, but without decoding it: a
// million zones have tens of millions of them.

import { MAX_NAME_OCTETS } from '../../../dns/name.ts';

const MAX_LABEL_OCTETS = 63;
/** Octets of RRSIG in front of the signer's name (RFC 4034 §3.1). */
const SIGNER_AT = 18;
const MAX_WINDOW_OCTETS = 32;

/** RFC 4034 §3.1: a signer's name that is not compressed, and a signature. */
export function isRrsig(octets: Uint8Array, from: number, to: number): boolean {
  const end = endOfPlainName(octets, from + SIGNER_AT, to);
  return end >= 0 && end < to;
}

/** RFC 4034 §4.1: a name that is not compressed, and a bitmap of types, NSEC at least. */
export function isNsec(octets: Uint8Array, from: number, to: number): boolean {
  const end = endOfPlainName(octets, from, to);
  return end >= 0 && end < to && isTypeBitmap(octets, end, to);
}

/** -1: there is no such name before `to`. */
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

/** RFC 4034 §4.1.2: rising windows, none with zero octets at its end. */
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
