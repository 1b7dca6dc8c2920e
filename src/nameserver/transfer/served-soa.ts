// Reads the SOA records of served zones from the image.

import type { Name } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { Image, ReaderSlot } from '../image/image.ts';
import { ROOT, segmentOf, wordOf } from '../image/layout.ts';
import { viewNode } from '../image/read-node.ts';
import { isServedRoot, readRoot } from '../image/zone-root.ts';
import { findRoot, rootsOf } from '../image/zone-table.ts';

export interface ServedSoa {
  readonly zoneId: number;
  readonly serial: number;
  readonly ttl: number;
  readonly rdata: Uint8Array;
}

/** Returns undefined unless the whole zone is served. Enters and leaves the slot. */
export function readServedSoa(image: Image, reader: ReaderSlot, apex: Name): ServedSoa | undefined {
  reader.enter();
  try {
    const ref = findRoot(image, apex);
    if (ref === 0) return undefined;
    const { id: zoneId, serial, apexNode, apexOnly, expired, isServed } = readRoot(image, ref);
    if (!isServed || apexOnly || expired) return undefined;
    const soa = viewNode(image, apexNode, apex).sets.get(TYPE.SOA);
    const rdata = soa?.rdata[0];
    return soa === undefined || rdata === undefined ? undefined : { zoneId, serial, ttl: soa.ttl, rdata };
  } finally {
    reader.leave();
  }
}

const MOST_SERIALS = 1000;
/** Bounds the time of a call on nodes with many zones. */
const MOST_ROOTS = 10_000;

/** Returns the serials of up to 1,000 zones with peers, for the metric. Enters and leaves the slot. */
export function readZoneSerials(
  image: Image,
  reader: ReaderSlot,
  hasPeers: (zoneId: number) => boolean,
): { readonly apex: Name; readonly serial: number }[] {
  const serials: { apex: Name; serial: number }[] = [];
  let roots = 0;
  reader.enter();
  try {
    for (const ref of rootsOf(image)) {
      if (++roots > MOST_ROOTS || serials.length === MOST_SERIALS) break;
      if (!isServedRoot(image, ref) || !hasPeers(zoneIdOf(image, ref))) continue;
      const { apex, serial } = readRoot(image, ref);
      serials.push({ apex, serial });
    }
  } finally {
    reader.leave();
  }
  return serials;
}

function zoneIdOf(image: Image, ref: number): number {
  return (image.numbers[segmentOf(ref)] as Float64Array)[(wordOf(ref) + ROOT.ID) >> 1] as number;
}
