// The zone section and the OPT record of a dynamic update. Names in the other sections are not decoded, because an update
// may have many.

import { TYPE } from '../type-codes.ts';
import { HEADER_OCTETS } from './header.ts';
import { nameEnd } from './tsig.ts';

const RECORD_HEAD_OCTETS = 10; // type, class, TTL, RDLENGTH

/**
 * Returns a message with the header, the zone section and the OPT record of an update without its TSIG record. Returns
 * undefined if the update is truncated or does not have exactly one zone (RFC 2136 §3.1.1).
 */
export function updateHead(octets: Uint8Array): Uint8Array | undefined {
  const zoneEnd = nameEnd(octets, HEADER_OCTETS) + 4;
  if (uint16(octets, 4) !== 1 || !(zoneEnd <= octets.length)) return undefined;
  const others = uint16(octets, 6) + uint16(octets, 8);
  const records = others + uint16(octets, 10);
  const opts: Uint8Array[] = [];
  let at = zoneEnd;
  for (let i = 0; i < records; i++) {
    const fields = nameEnd(octets, at);
    const end = fields + RECORD_HEAD_OCTETS + uint16(octets, fields + 8);
    if (!(end <= octets.length)) return undefined;
    // The owner of an OPT record is the root, so the record can be copied (RFC 6891 §6.1.2).
    if (uint16(octets, fields) === TYPE.OPT) {
      if (i < others) return undefined;
      opts.push(octets.subarray(at, end));
    }
    at = end;
  }
  const head = Buffer.concat([octets.subarray(0, zoneEnd), ...opts]);
  head.writeUInt32BE(0, 6);
  head.writeUInt16BE(opts.length, 10);
  return head;
}

function uint16(octets: Uint8Array, at: number): number {
  return ((octets[at] as number) << 8) | (octets[at + 1] as number);
}
