// The digest of a zone by the SIMPLE scheme with SHA-384 (RFC 8976 §3.3), written from the RFC: what a ZONEMD of ours is
// compared with.

import { createHash } from 'node:crypto';
import { sortNames } from '../../../src/dns/dnssec/sort-names.ts';
import { foldCase, type Name } from '../../../src/dns/name.ts';
import { CLASS, TYPE } from '../../../src/dns/type-codes.ts';
import type { Zone } from '../../../src/zone/zone.ts';

/** Rdata whose names are lower-cased (RFC 4034 §6.2): the octets before them and behind. */
const NAMES_BETWEEN: ReadonlyMap<number, readonly [before: number, behind: number]> = new Map([
  [TYPE.NS, [0, 0]],
  [TYPE.PTR, [0, 0]],
  [TYPE.SOA, [0, 20]],
  [TYPE.MX, [2, 0]],
]);

/** Of an unsigned zone. */
export function zoneDigest({ apex, nodes }: Zone): Uint8Array {
  const hash = createHash('sha384');
  for (const name of sortNames(nodes.keys())) {
    const sets = [...(nodes.get(name)?.sets.values() ?? [])].sort((a, b) => a.type - b.type);
    for (const { type, ttl, rdata } of sets) {
      if (name === apex && type === TYPE.ZONEMD) continue; // RFC 8976 §3.3.1.1
      for (const octets of rdata.map((one) => canonical(type, one)).sort(Buffer.compare)) {
        const head = Buffer.alloc(10);
        head.writeUInt16BE(type, 0);
        head.writeUInt16BE(CLASS.IN, 2);
        head.writeUInt32BE(ttl, 4);
        head.writeUInt16BE(octets.length, 8);
        hash.update(Buffer.from(name, 'latin1')).update(head).update(octets);
      }
    }
  }
  return Uint8Array.from(hash.digest());
}

function canonical(type: number, rdata: Uint8Array): Buffer {
  const place = NAMES_BETWEEN.get(type);
  if (place === undefined) return Buffer.from(rdata);
  const end = rdata.length - place[1];
  const names = Buffer.from(rdata.subarray(place[0], end)).toString('latin1') as Name;
  return Buffer.concat([
    rdata.subarray(0, place[0]),
    Buffer.from(foldCase(names), 'latin1'),
    rdata.subarray(end),
  ]);
}
