// Reads the target of a CNAME or DNAME of the image.

import { MAX_NAME_OCTETS } from '../../../dns/name.ts';
import type { FoldedName } from './folded-name.ts';
import { FIRST_RDATA, type FoundSet } from './found-set.ts';

/** @param stored the segment that contains the CNAME, whose owner is `owner` */
export function readCnameTarget(
  stored: Uint8Array,
  cname: FoundSet,
  owner: FoldedName,
  target: FoldedName,
): void {
  const into = target.octets;
  let length = 0;
  for (let at = cname.at + FIRST_RDATA; ; ) {
    const label = stored[at++] as number;
    if (label >= 0xc0) {
      // A pointer into the owner. Counted from the end, its offset is the same in the query name.
      const suffix = cname.ownerOctets + 12 - (((label & 0x3f) << 8) | (stored[at] as number));
      for (let i = owner.length - suffix; i < owner.length; i++) into[length++] = owner.octets[i] as number;
      break;
    }
    into[length++] = label;
    if (label === 0) break;
    for (const end = at + label; at < end; at++) into[length++] = stored[at] as number;
  }
  target.adopt(length);
}

/**
 * Replaces the owner of the DNAME at the end of `name` with its target (RFC 6672 §3.2 3C). `prefix` is the length of
 * the part before the owner. Returns false if the result is too long.
 */
export function readDnameTarget(
  stored: Uint8Array,
  dname: FoundSet,
  name: FoldedName,
  prefix: number,
  target: FoldedName,
): boolean {
  const targetOctets = dname.octets - FIRST_RDATA;
  if (prefix + targetOctets > MAX_NAME_OCTETS) return false;
  for (let i = 0; i < prefix; i++) target.octets[i] = name.octets[i] as number;
  const rdata = dname.at + FIRST_RDATA;
  for (let i = 0; i < targetOctets; i++) target.octets[prefix + i] = stored[rdata + i] as number;
  target.adopt(prefix + targetOctets);
  return true;
}
