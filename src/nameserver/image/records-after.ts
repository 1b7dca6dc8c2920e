// The records of a served zone with changes applied, used to rebuild the zone.

import type { Name } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import {
  expiredMarkOf,
  MARK_TYPE,
  markOf,
  privateMarkOf,
  type RecordSet,
  unprovenMarkOf,
  type ZoneRecord,
} from '../../zone/zone.ts';
import type { ZoneChanges } from './edit-zone.ts';
import type { Image } from './image.ts';
import { forEachName } from './name-index.ts';
import { forEachOrdered } from './order-index.ts';
import { readNode } from './read-node.ts';
import { readRoot } from './zone-root.ts';

/** Yields the records of the zone at this root with the changes applied. */
export function* recordsAfter(image: Image, root: number, changes: ZoneChanges): Generator<ZoneRecord> {
  const { apex, unproven, expired, isPrivate, denials, idleDenials, isHashed } = readRoot(image, root);
  const touched = new Map<Name, Set<number>>();
  for (const { owner, type } of [...changes.gone, ...changes.records]) {
    const types = touched.get(owner);
    if (types === undefined) touched.set(owner, new Set([type]));
    else types.add(type);
  }
  const nodes: number[] = [];
  forEachName(image, root, (_, node) => nodes.push(node));
  if (isHashed) forEachOrdered(image, denials, (node) => nodes.push(node));
  forEachOrdered(image, idleDenials, (node) => nodes.push(node));
  for (const node of nodes) {
    const { name, sets, marked } = readNode(image, node, apex);
    const types = touched.get(name) ?? NO_TYPES;
    for (const set of sets.values()) yield* unchangedRecords(set, types);
    if (marked && !types.has(MARK_TYPE)) yield markOf(name);
  }
  if (!touched.get(apex)?.has(MARK_TYPE)) {
    if (unproven) yield unprovenMarkOf(apex);
    if (expired) yield expiredMarkOf(apex);
    if (isPrivate) yield privateMarkOf(apex);
  }
  yield* changes.records;
}

const NO_TYPES: ReadonlySet<number> = new Set();

function* unchangedRecords(set: RecordSet, changed: ReadonlySet<number>): Generator<ZoneRecord> {
  const { owner, type, ttl, rdata, signatures = [] } = set;
  if (!changed.has(type)) for (const one of rdata) yield { owner, type, ttl, rdata: one };
  if (changed.has(TYPE.RRSIG)) return;
  for (const one of signatures) yield { owner, type: TYPE.RRSIG, ttl, rdata: one };
}
