// Reads nodes from an image, for the writer's edits.

import type { Name } from '../../dns/name.ts';
import type { Image } from './image.ts';
import { byteOf, NODE, NODE_FLAG, SET, segmentOf, setWordsOf, wordOf } from './layout.ts';
import { StoredSet } from './stored-set.ts';
import type { NodeContent } from './write-node.ts';

interface ViewedNode extends NodeContent {
  readonly sets: ReadonlyMap<number, StoredSet>;
}

/** Reads a node into memory of its own. */
export function readNode(image: Image, ref: number, apex: Name): NodeContent {
  const node = viewNode(image, ref, apex);
  return { ...node, sets: new Map([...node.sets].map(([type, set]) => [type, set.read()])) };
}

export function ownerOfNode(image: Image, ref: number, apex: Name): Name {
  const shape = (image.words[segmentOf(ref)] as Int32Array)[wordOf(ref) + NODE.SHAPE] as number;
  const bytes = image.bytes[segmentOf(ref)] as Uint8Array;
  const at = byteOf(ref) + (NODE.SETS + (shape >>> 16) * setWordsOf(shape)) * 4;
  return ownerAt(bytes, at, (shape >>> 8) & 0xff, apex);
}

function ownerAt(bytes: Uint8Array, at: number, relative: number, apex: Name): Name {
  let name = '';
  for (let i = at; i < at + relative; i++) name += String.fromCharCode(bytes[i] as number);
  return (name + apex) as Name;
}

/** Returns a node whose sets are read on demand. It is valid until its block is retired. */
export function viewNode(image: Image, ref: number, apex: Name): ViewedNode {
  const words = image.words[segmentOf(ref)] as Int32Array;
  const bytes = image.bytes[segmentOf(ref)] as Uint8Array;
  const at = wordOf(ref);
  const shape = words[at + NODE.SHAPE] as number;
  const relative = (shape >>> 8) & 0xff;
  const setWords = setWordsOf(shape);
  const setsEnd = at + NODE.SETS + (shape >>> 16) * setWords;
  let bytesAt = byteOf(ref) + (setsEnd - at) * 4;
  const name = ownerAt(bytes, bytesAt, relative, apex);
  bytesAt += relative;
  const sets = new Map<number, StoredSet>();
  for (let set = at + NODE.SETS; set < setsEnd; set += setWords) {
    const first = words[set + SET.TYPE] as number;
    const second = words[set + SET.OCTETS] as number;
    const third = setWords > SET.SIGNATURES ? (words[set + SET.SIGNATURES] as number) : 0;
    const type = first & 0xffff;
    sets.set(type, new StoredSet(name, type, first >>> 16, second, third, bytes, bytesAt));
    bytesAt += (second & 0xffff) + (third & 0xffff);
  }
  return {
    name,
    sets,
    children: words[at + NODE.CHILDREN] as number,
    hasWildcardChild: (shape & NODE_FLAG.HAS_WILDCARD_CHILD) !== 0,
    marked: (shape & NODE_FLAG.MARKED) !== 0,
  };
}
