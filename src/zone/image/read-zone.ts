// Reads a zone back from an image, whole: for edits that concern all of it, and for tests. It is slow. The caller is
// the writer or has entered a reader slot.

import type { Name } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { RecordSet, Zone, ZoneNode } from '../zone.ts';
import type { Image } from './image.ts';
import { byteOf, NODE, NODE_FLAG, SET, SET_WORDS, segmentOf, wordOf } from './layout.ts';
import { forEachName } from './name-index.ts';
import { StoredSet } from './stored-set.ts';
import type { NodeContent } from './write-node.ts';
import { isServedRoot, readRoot } from './zone-root.ts';
import { findRoot } from './zone-table.ts';

/** What `viewNode` gives. */
export interface ViewedNode extends NodeContent {
  readonly sets: ReadonlyMap<number, StoredSet>;
}

/** `apex` must be folded. */
export function readZone(image: Image, apex: Name): Zone | undefined {
  const root = findRoot(image, apex);
  return root === 0 || !isServedRoot(image, root) ? undefined : readZoneAt(image, root);
}

export function readZoneAt(image: Image, root: number): Zone {
  const { apex, serial, negativeTtl, records } = readRoot(image, root);
  const nodes = new Map<Name, ZoneNode>();
  const marks = new Set<Name>();
  forEachName(image, root, (_, ref) => {
    const { name, sets, marked } = readNode(image, ref, apex);
    nodes.set(name, { name, sets });
    if (marked) marks.add(name);
  });
  const soa = nodes.get(apex)?.sets.get(TYPE.SOA) as RecordSet;
  return { apex, soa, negativeTtl, serial, nodes, marked: marks, records };
}

/** A node with memory of its own. */
export function readNode(image: Image, ref: number, apex: Name): NodeContent {
  const node = viewNode(image, ref, apex);
  return { ...node, sets: new Map([...node.sets].map(([type, set]) => [type, set.read()])) };
}

/** A node whose sets are read on demand: valid until its block is retired. */
export function viewNode(image: Image, ref: number, apex: Name): ViewedNode {
  const words = image.words[segmentOf(ref)] as Int32Array;
  const bytes = image.bytes[segmentOf(ref)] as Uint8Array;
  const at = wordOf(ref);
  const shape = words[at + NODE.SHAPE] as number;
  const relative = (shape >>> 8) & 0xff;
  const setsEnd = at + NODE.SETS + (shape >>> 16) * SET_WORDS;
  let bytesAt = byteOf(ref) + (setsEnd - at) * 4;
  let name = '';
  for (let i = 0; i < relative; i++) name += String.fromCharCode(bytes[bytesAt + i] as number);
  name += apex;
  bytesAt += relative;
  const sets = new Map<number, StoredSet>();
  for (let set = at + NODE.SETS; set < setsEnd; set += SET_WORDS) {
    const first = words[set + SET.TYPE] as number;
    const second = words[set + SET.OCTETS] as number;
    const type = first & 0xffff;
    sets.set(type, new StoredSet(name as Name, type, first >>> 16, second, bytes, bytesAt));
    bytesAt += second & 0xffff;
  }
  return {
    name: name as Name,
    sets,
    children: words[at + NODE.CHILDREN] as number,
    hasWildcardChild: (shape & NODE_FLAG.HAS_WILDCARD_CHILD) !== 0,
    marked: (shape & NODE_FLAG.MARKED) !== 0,
  };
}
