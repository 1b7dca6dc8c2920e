// Writes the block of one name. A node is first built in private memory, because its size is not known earlier.

import { isWildcard, type Name } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { EDGE_MARK_TYPE, type RecordSet } from '../../zone/zone.ts';
import { compileSet, compileSignatures, maxSetOctets, octetsOfSignatures } from './compile-set.ts';
import type { Image } from './image.ts';
import { byteOf, NODE, NODE_FLAG, SET, segmentOf, setWordsOf, UNIT_BYTES, wordOf } from './layout.ts';
import type { Space } from './space.ts';
import { recordsOfSet, StoredSet, signaturesOfSet } from './stored-set.ts';

/** An existing name, as written to the image. */
export interface NodeContent {
  readonly name: Name;
  readonly sets: ReadonlyMap<number, RecordSet>;
  /** Number of existing names that are one label longer. */
  readonly children: number;
  readonly hasWildcardChild: boolean;
  /** True if the name exists even without records. */
  readonly marked: boolean;
}

/** Returns the node of an NSEC3 set, whose owner is not a name of the zone (RFC 5155 §7.2.8). */
export function hashedNode(set: RecordSet): NodeContent {
  const sets = new Map([[set.type, set]]);
  return { name: set.owner, sets, children: 0, hasWildcardChild: false, marked: false };
}

let draft = new ArrayBuffer(4096);
let words = new Int32Array(draft);
let bytes = new Uint8Array(draft);

function makeRoom(needed: number): void {
  if (needed <= bytes.length) return;
  draft = new ArrayBuffer(2 ** Math.ceil(Math.log2(needed)));
  words = new Int32Array(draft);
  bytes = new Uint8Array(draft);
}

/** Returns the ref of a new block. Throws ImageFullError. */
export function writeNode(image: Image, space: Space, apex: Name, node: NodeContent): number {
  const length = compileNode(apex, node);
  const ref = space.allocate(unitsFor(length));
  const to = image.bytes[segmentOf(ref)] as Uint8Array;
  const at = byteOf(ref);
  if (length > 512) to.set(bytes.subarray(0, length), at);
  else for (let i = 0; i < length; i++) to[at + i] = bytes[i] as number;
  return ref;
}

/** Builds the block in `bytes` and returns its length. */
function compileNode(apex: Name, node: NodeContent): number {
  const relative = node.name.length - apex.length;
  const sets = inOrderOfType(node.sets);
  const shape = flagsOf(apex, node) | (relative << 8) | (sets.length << 16);
  const setWords = setWordsOf(shape);
  let length = (NODE.SETS + sets.length * setWords) * 4 + relative;
  makeRoom(length + octetsOfSets(sets));
  words[NODE.SHAPE] = shape;
  words[NODE.CHILDREN] = node.children;
  for (let i = 0; i < relative; i++) bytes[length - relative + i] = node.name.charCodeAt(i);
  let at = NODE.SETS;
  for (const set of sets) {
    words[at + SET.TYPE] = set.type | (recordsOfSet(set) << 16);
    length += compileInto(set, apex.length, at, length, setWords > SET.SIGNATURES);
    at += setWords;
  }
  return length;
}

/** Writes a set and its signatures, and the words at `word` that contain their sizes. Returns the number of octets. */
function compileInto(
  set: RecordSet,
  apexOctets: number,
  word: number,
  at: number,
  isSigned: boolean,
): number {
  // The octets of a set depend only on its owner and the apex, so an unchanged set is copied.
  const isStored = set instanceof StoredSet;
  const second = isStored ? set.second : compileSet(set, apexOctets, bytes, at);
  if (isStored) set.copyTo(bytes, at);
  words[word + SET.OCTETS] = second;
  const octets = second & 0xffff;
  if (!isSigned) return octets;
  const third = isStored ? set.third : compileSignatures(set, bytes, at + octets);
  words[word + SET.SIGNATURES] = third;
  return octets + (third & 0xffff);
}

function octetsOfSets(sets: readonly RecordSet[]): number {
  let octets = 0;
  for (const set of sets) {
    if (set instanceof StoredSet) octets += set.octets + set.signatureOctets;
    else octets += maxSetOctets(set) + octetsOfSignatures(set);
  }
  return octets;
}

function inOrderOfType(sets: ReadonlyMap<number, RecordSet>): RecordSet[] {
  const list = [...sets.values()];
  return list.length > 1 ? list.sort((a, b) => a.type - b.type) : list;
}

function flagsOf(apex: Name, { name, sets, hasWildcardChild, marked }: NodeContent): number {
  return (
    (sets.has(TYPE.NS) && name !== apex ? NODE_FLAG.IS_CUT : 0) |
    (sets.has(TYPE.DNAME) ? NODE_FLAG.HAS_DNAME : 0) |
    (sets.has(TYPE.CNAME) ? NODE_FLAG.HAS_CNAME : 0) |
    (hasWildcardChild ? NODE_FLAG.HAS_WILDCARD_CHILD : 0) |
    (marked ? NODE_FLAG.MARKED : 0) |
    (isWildcard(name) ? NODE_FLAG.IS_WILDCARD : 0) |
    (hasSignatures(sets) ? NODE_FLAG.SIGNED : 0) |
    (sets.has(EDGE_MARK_TYPE) ? NODE_FLAG.EDGE : 0)
  );
}

function hasSignatures(sets: ReadonlyMap<number, RecordSet>): boolean {
  for (const set of sets.values()) if (signaturesOfSet(set) > 0) return true;
  return false;
}

function unitsFor(length: number): number {
  return Math.ceil(length / UNIT_BYTES);
}

/** The node's first word. */
export function shapeOfNode(image: Image, ref: number): number {
  return (image.words[segmentOf(ref)] as Int32Array)[wordOf(ref) + NODE.SHAPE] as number;
}

/** Returns the size of a block written by `writeNode`. */
export function unitsOfNode(image: Image, ref: number): number {
  const from = image.words[segmentOf(ref)] as Int32Array;
  const at = wordOf(ref);
  const shape = from[at + NODE.SHAPE] as number;
  const setWords = setWordsOf(shape);
  const setsEnd = at + NODE.SETS + (shape >>> 16) * setWords;
  let length = (setsEnd - at) * 4 + ((shape >>> 8) & 0xff);
  for (let word = at + NODE.SETS; word < setsEnd; word += setWords) {
    length += (from[word + SET.OCTETS] as number) & 0xffff;
    if (setWords > SET.SIGNATURES) length += (from[word + SET.SIGNATURES] as number) & 0xffff;
  }
  return unitsFor(length);
}
