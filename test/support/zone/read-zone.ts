// Reads a whole zone back from an image, as the reference for what was put there. The caller is the writer or has
// entered a reader slot.

import type { Name } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import type { Image } from '../../../src/zone/image/image.ts';
import { forEachName } from '../../../src/zone/image/name-index.ts';
import { readNode } from '../../../src/zone/image/read-node.ts';
import { isServedRoot, readRoot } from '../../../src/zone/image/zone-root.ts';
import { findRoot } from '../../../src/zone/image/zone-table.ts';
import type { RecordSet, Zone, ZoneNode } from '../../../src/zone/zone.ts';

/** `apex` must be folded. */
export function readZone(image: Image, apex: Name): Zone | undefined {
  const root = findRoot(image, apex);
  return root === 0 || !isServedRoot(image, root) ? undefined : readZoneAt(image, root);
}

function readZoneAt(image: Image, root: number): Zone {
  const { apex, serial, negativeTtl, unproven, records } = readRoot(image, root);
  const nodes = new Map<Name, ZoneNode>();
  const marks = new Set<Name>();
  forEachName(image, root, (_, ref) => {
    const { name, sets, marked } = readNode(image, ref, apex);
    nodes.set(name, { name, sets });
    if (marked) marks.add(name);
  });
  const soa = nodes.get(apex)?.sets.get(TYPE.SOA) as RecordSet;
  return { apex, soa, negativeTtl, serial, nodes, marked: marks, unproven, records };
}
