// The set that a region has in place of the edge's, for the reference implementation of answers.

import { readSignature } from '../dns/dnssec/signed-octets.ts';
import { TYPE } from '../dns/type-codes.ts';
import { idOfSet, type RegionSets, rdataOfSet, SET_ID_OCTETS } from './edge-sets.ts';
import { EDGE_MARK_TYPE, type RecordSet, type Zone, type ZoneNode } from './zone.ts';

/** Who asks, as far as answers depend on it. */
export interface Asker {
  /** Undefined: none of the regions that have edges. */
  readonly region: RegionSets | undefined;
  /** In seconds since 1970. */
  readonly at: number;
}

/**
 * In a zone that is signed a region's set needs a signature by each key that signs the edge's set; where the newest set has none
 * yet, the one before it is taken, and then the edge's.
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
