// Reads a whole zone from an image, as the reference for the content that was put there. The caller is the writer or has
// entered a reader slot.

import type { Name } from '../../../src/dns/name.ts';
import { parseBase32Hex } from '../../../src/dns/record/base-encodings.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import type { Image } from '../../../src/nameserver/image/image.ts';
import { forEachName } from '../../../src/nameserver/image/name-index.ts';
import { forEachOrdered } from '../../../src/nameserver/image/order-index.ts';
import { readNode } from '../../../src/nameserver/image/read-node.ts';
import { isServedRoot, readRoot, type ZoneOrder } from '../../../src/nameserver/image/zone-root.ts';
import { findRoot } from '../../../src/nameserver/image/zone-table.ts';
import { type HashParameters, hashParameters } from '../../../src/zone/find-denials.ts';
import type { RecordSet, Zone, ZoneNode } from '../../../src/zone/zone.ts';

export function readZone(image: Image, apex: Name): Zone | undefined {
  const root = findRoot(image, apex);
  return root === 0 || !isServedRoot(image, root) ? undefined : readZoneAt(image, root);
}

function readZoneAt(image: Image, root: number): Zone {
  const { apex, serial, negativeTtl, unproven, expired, isPrivate, records, ...order } = readRoot(
    image,
    root,
  );
  const nodes = new Map<Name, ZoneNode>();
  const marks = new Set<Name>();
  forEachName(image, root, (_, ref) => {
    const { name, sets, marked } = readNode(image, ref, apex);
    nodes.set(name, { name, sets });
    if (marked) marks.add(name);
  });
  const soa = nodes.get(apex)?.sets.get(TYPE.SOA) as RecordSet;
  const found = {
    apex,
    soa,
    negativeTtl,
    serial,
    nodes,
    marked: marks,
    unproven,
    expired,
    isPrivate,
    records,
  };
  return { ...found, ...readDenials(image, apex, soa, nodes, order) };
}

/** Returns the content of the order indexes in the form of a zone. */
function readDenials(
  image: Image,
  apex: Name,
  soa: RecordSet,
  nodes: ReadonlyMap<Name, ZoneNode>,
  { signed, isHashed, denials, idleDenials }: ZoneOrder,
): Pick<Zone, 'denials' | 'idleDenials'> {
  if (signed !== (soa.signatures !== undefined)) throw new Error('the root contradicts the signature');
  const idle = setsIn(image, apex, idleDenials);
  const rest = idle.length === 0 ? {} : { idleDenials: idle };
  if (!signed) return rest;
  if (!isHashed) return { denials: { kind: 'nsec', owners: namesIn(image, apex, denials) }, ...rest };
  const sets = nodes.get(apex)?.sets.get(TYPE.NSEC3PARAM);
  const { iterations, salt } = hashParameters(sets)[0] as HashParameters;
  const entries = setsIn(image, apex, denials).map((set) => ({
    hash: parseBase32Hex(set.owner.slice(1, 33)),
    set,
  }));
  return { denials: { kind: 'nsec3', iterations, salt, entries }, ...rest };
}

function namesIn(image: Image, apex: Name, order: number): Name[] {
  const names: Name[] = [];
  forEachOrdered(image, order, (ref) => names.push(readNode(image, ref, apex).name));
  return names;
}

function setsIn(image: Image, apex: Name, order: number): RecordSet[] {
  const sets: RecordSet[] = [];
  forEachOrdered(image, order, (ref) => sets.push(...readNode(image, ref, apex).sets.values()));
  return sets;
}
