// The canonical form of rdata: the names inside are in lower case, only for the types of a closed list (RFC 4034 §6.2
// without NSEC, as corrected by RFC 6840 §5.1).

import { TYPE } from '../type-codes.ts';

/** The number of octets before each name. A6 is in the RFC's list, but is historic (RFC 6563). */
const NAMES: ReadonlyMap<number, readonly number[]> = new Map<number, readonly number[]>([
  [TYPE.NS, [0]],
  [3, [0]], // MD
  [4, [0]], // MF
  [TYPE.CNAME, [0]],
  [TYPE.SOA, [0, 0]],
  [7, [0]], // MB
  [8, [0]], // MG
  [9, [0]], // MR
  [TYPE.PTR, [0]],
  [14, [0, 0]], // MINFO
  [TYPE.MX, [2]],
  [TYPE.RP, [0, 0]],
  [TYPE.AFSDB, [2]],
  [21, [2]], // RT
  [24, [18]], // SIG
  [26, [2, 0]], // PX
  [30, [0]], // NXT
  [TYPE.SRV, [6]],
  [36, [2]], // KX
  [TYPE.DNAME, [0]],
  [TYPE.RRSIG, [18]],
]);
/** Order and preference, before the three character-strings of a NAPTR record. */
const NAPTR_NUMBERS_OCTETS = 4;
const NAPTR_STRINGS = 3;

/** Returns the canonical form of well-formed, uncompressed rdata. Makes a copy only if a letter changes. */
export function canonicalRdata(type: number, rdata: Uint8Array): Uint8Array {
  const skips = type === TYPE.NAPTR ? [octetsBeforeReplacement(rdata)] : NAMES.get(type);
  if (skips === undefined) return rdata;
  let folded: Uint8Array | undefined;
  let at = 0;
  for (const skip of skips) {
    at += skip;
    for (let left = 0; at < rdata.length; at++) {
      const octet = rdata[at] as number;
      if (left > 0) left--;
      else if (octet === 0) break;
      else left = octet;
      if (octet < 0x41 || octet > 0x5a) continue; // length octets are less than "A"
      folded ??= Uint8Array.from(rdata);
      folded[at] = octet | 0x20;
    }
    at++;
  }
  return folded ?? rdata;
}

function octetsBeforeReplacement(rdata: Uint8Array): number {
  let at = NAPTR_NUMBERS_OCTETS;
  for (let i = 0; i < NAPTR_STRINGS; i++) at += 1 + (rdata[at] ?? 0);
  return at;
}
