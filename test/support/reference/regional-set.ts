// Finds the address set that a region has instead of the edge's.

import { readSignature } from '../../../src/dns/dnssec/signed-octets.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { idOfSet, type RegionSets, rdataOfSet, SET_ID_OCTETS } from '../../../src/zone/edge-sets.ts';
import { EDGE_MARK_TYPE, type RecordSet, type Zone, type ZoneNode } from '../../../src/zone/zone.ts';

/** The properties of the client on which answers depend. */
export interface Asker {
  /** Undefined if the client is in no region with edges. */
  readonly region: RegionSets | undefined;
  /** In seconds since 1970. */
  readonly at: number;
}

/**
 * In a signed zone, a region's set needs a signature by each key that signs the edge's set. If the newest set lacks
 * one, the previous set is used, or else the edge's.
 */
export function regionalSet(zone: Zone, node: ZoneNode, set: RecordSet, asker: Asker | undefined): RecordSet {
  const marks = node.sets.get(EDGE_MARK_TYPE);
  const isAddress = set.type === TYPE.A || set.type === TYPE.AAAA;
  if (asker?.region === undefined || marks === undefined || !isAddress) return set;
  const { owner, type, ttl } = set;
  const [newest = [], before = []] = type === TYPE.A ? asker.region.v4 : asker.region.v6;
  if (zone.denials === undefined)
    return newest.length === 0 ? set : { owner, type, ttl, rdata: rdataOfSet(type, newest) };
  for (const addresses of [newest, before]) {
    const rdata = rdataOfSet(type, addresses);
    const signatures = signaturesOver(idOfSet(type, rdata), set, marks, asker.at);
    if (rdata.length > 0 && signatures !== undefined) return { owner, type, ttl, rdata, signatures };
  }
  return set;
}

function signaturesOver(
  id: Uint8Array,
  set: RecordSet,
  marks: RecordSet,
  at: number,
): Uint8Array[] | undefined {
  const ofSet = marks.rdata
    .filter((rdata) => Buffer.compare(rdata.subarray(0, SET_ID_OCTETS), id) === 0)
    .map((rdata) => rdata.subarray(SET_ID_OCTETS));
  const own = (set.signatures ?? []).map(readSignature);
  const found = own.map(({ algorithm, keyTag }) =>
    ofSet.find((rdata) => {
      const one = readSignature(rdata);
      const isOfKey = one.algorithm === algorithm && one.keyTag === keyTag;
      return isOfKey && one.originalTtl === set.ttl && ((one.expiration - at) | 0) > 0;
    }),
  );
  if (found.length === 0 || found.includes(undefined)) return undefined;
  return found as Uint8Array[];
}
