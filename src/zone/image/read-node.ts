// Reads nodes back from an image, for the writer's edits.

import type { Name } from '../../dns/name.ts';
import type { Image } from './image.ts';
import { byteOf, NODE, NODE_FLAG, SET, SET_WORDS, segmentOf, wordOf } from './layout.ts';
import { StoredSet } from './stored-set.ts';
import type { NodeContent } from './write-node.ts';

/** What `viewNode` gives. */
interface ViewedNode extends NodeContent {
  readonly sets: ReadonlyMap<number, StoredSet>;
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
