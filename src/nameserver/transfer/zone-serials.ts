// Reads the serials of zones from the image, for the metrics.

import type { Name } from '../../dns/name.ts';
import type { Image, ReaderSlot } from '../image/image.ts';
import { ROOT, segmentOf, wordOf } from '../image/layout.ts';
import { isServedRoot, readRoot } from '../image/zone-root.ts';
import { rootsOf } from '../image/zone-table.ts';

const MOST_SERIALS = 1000;
/** Bounds the time of a call on nodes with many zones. */
const MOST_ROOTS = 10_000;

/** Returns the serials of zones with peers, at most 1,000. Enters and leaves the slot. */
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
