// The index of a zone's names by their hashes: writes the buckets of a zone's root, whole or with changes, and searches them.

import type { Name } from '../../dns/name.ts';
import type { Image } from './image.ts';
import { byteOf, NODE, segmentOf, setWordsOf, UNIT_BYTES, wordOf } from './layout.ts';
import type { Space } from './space.ts';
import { type Bucket, bucketNumber, bucketOf, indexAt, log2BucketsOf } from './zone-root.ts';

/** A growing list of pairs (hash, ref of a node). */
export class IndexedNames {
  length = 0;
  hashes = new Int32Array(64);
  nodes = new Int32Array(64);

  add(hash: number, node: number): void {
    if (this.length === this.hashes.length) {
      this.hashes = doubled(this.hashes);
      this.nodes = doubled(this.nodes);
    }
    this.hashes[this.length] = hash;
    this.nodes[this.length++] = node;
  }

  clear(): void {
    this.length = 0;
  }
}

function doubled(items: Int32Array): Int32Array<ArrayBuffer> {
  const grown = new Int32Array(items.length * 2);
  grown.set(items);
  return grown;
}

function unitsForBucket(names: number): number {
  return Math.ceil(((1 + 2 * names) * 4) / UNIT_BYTES);
}

/** Fills the index of a new root. Throws ImageFullError. */
export function writeIndex(image: Image, space: Space, root: number, names: IndexedNames): void {
  const words = image.words[segmentOf(root)] as Int32Array;
  const at = indexAt(image, root);
  const log2 = log2BucketsOf(image, root);
  if (log2 === 0) {
    writePairs({ words, at }, names, undefined, 0, names.length);
    return;
  }
  const { order, ends } = byBucket(names, log2);
  let from = 0;
  for (let number = 0; number < ends.length; number++) {
    const to = ends[number] as number;
    words[at + number] = from === to ? 0 : writeBucket(image, space, names, order, from, to);
    from = to;
  }
}

/** A changed name: the refs of its nodes before and after; 0 if it does not exist. */
interface NameChange {
  readonly hash: number;
  readonly oldNode: number;
  readonly newNode: number;
}

/** Fills the index of a new root from the previous root. Returns the buckets that are no longer used. */
export function changeIndex(
  image: Image,
  space: Space,
  oldRoot: number,
  newRoot: number,
  changes: readonly NameChange[],
): number[] {
  const log2 = log2BucketsOf(image, newRoot);
  const replaced: number[] = [];
  if (log2 === 0 || log2 !== log2BucketsOf(image, oldRoot)) {
    changed.clear();
    forEachName(image, oldRoot, addUnchanged(changes));
    addNew(changes);
    writeIndex(image, space, newRoot, changed);
    forEachBucket(image, oldRoot, (ref) => {
      replaced.push(ref);
    });
    return replaced;
  }
  const words = image.words[segmentOf(newRoot)] as Int32Array;
  const oldWords = image.words[segmentOf(oldRoot)] as Int32Array;
  const at = indexAt(image, newRoot);
  const oldAt = indexAt(image, oldRoot);
  words.set(oldWords.subarray(oldAt, oldAt + (1 << log2)), at);
  for (const [number, ofBucket] of groupByBucket(changes, log2)) {
    changed.clear();
    forEachPair(bucketOf(image, oldRoot, number), addUnchanged(ofBucket));
    addNew(ofBucket);
    const old = oldWords[oldAt + number] as number;
    if (old !== 0) replaced.push(old);
    words[at + number] =
      changed.length === 0 ? 0 : writeBucket(image, space, changed, undefined, 0, changed.length);
  }
  return replaced;
}

const changed = new IndexedNames();

function addUnchanged(changes: readonly NameChange[]): VisitName {
  const gone = new Set(changes.map(({ oldNode }) => oldNode));
  return (hash, node) => {
    if (!gone.has(node)) changed.add(hash, node);
  };
}

function addNew(changes: readonly NameChange[]): void {
  for (const { hash, newNode } of changes) if (newNode !== 0) changed.add(hash, newNode);
}

function groupByBucket(changes: readonly NameChange[], log2: number): Map<number, NameChange[]> {
  const groups = new Map<number, NameChange[]>();
  for (const change of changes) {
    const number = bucketNumber(change.hash, log2);
    const group = groups.get(number);
    if (group === undefined) groups.set(number, [change]);
    else group.push(change);
  }
  return groups;
}

/** Writes names `order[from]` to `order[to - 1]` as a block; without `order`, the names with those numbers. */
function writeBucket(
  image: Image,
  space: Space,
  names: IndexedNames,
  order: Int32Array | undefined,
  from: number,
  to: number,
): number {
  const ref = space.allocate(unitsForBucket(to - from));
  const words = image.words[segmentOf(ref)] as Int32Array;
  writePairs({ words, at: wordOf(ref) }, names, order, from, to);
  return ref;
}

function writePairs(
  { words, at }: Bucket,
  names: IndexedNames,
  order: Int32Array | undefined,
  from: number,
  to: number,
): void {
  words[at] = to - from;
  let pair = at + 1;
  for (let i = from; i < to; i++) {
    const name = order === undefined ? i : (order[i] as number);
    words[pair++] = names.hashes[name] as number;
    words[pair++] = names.nodes[name] as number;
  }
}

/** Counting sort: returns the numbers of the names in bucket order, and the end of each bucket. */
function byBucket(names: IndexedNames, log2: number): { order: Int32Array; ends: Int32Array } {
  const ends = new Int32Array(1 << log2);
  for (let i = 0; i < names.length; i++) {
    const number = bucketNumber(names.hashes[i] as number, log2);
    ends[number] = (ends[number] as number) + 1;
  }
  let sum = 0;
  for (let number = 0; number < ends.length; number++) {
    const count = ends[number] as number;
    ends[number] = sum; // start of the bucket; becomes its end as the bucket is filled
    sum += count;
  }
  const order = new Int32Array(names.length);
  for (let i = 0; i < names.length; i++) {
    const number = bucketNumber(names.hashes[i] as number, log2);
    const place = ends[number] as number;
    order[place] = i;
    ends[number] = place + 1;
  }
  return { order, ends };
}

/** Returns the ref of the node of a folded name at or below the apex, or 0. */
export function findNode(image: Image, root: number, apex: Name, name: Name, hash: number): number {
  const { words, at } = bucketOf(image, root, bucketNumber(hash, log2BucketsOf(image, root)));
  const end = at + 1 + 2 * (words[at] as number);
  for (let pair = at + 1; pair < end; pair += 2) {
    const node = words[pair + 1] as number;
    if (words[pair] === hash && isOwnedBy(image, node, name, name.length - apex.length)) return node;
  }
  return 0;
}

function isOwnedBy(image: Image, node: number, name: Name, relative: number): boolean {
  const shape = (image.words[segmentOf(node)] as Int32Array)[wordOf(node) + NODE.SHAPE] as number;
  if (((shape >>> 8) & 0xff) !== relative) return false;
  const bytes = image.bytes[segmentOf(node)] as Uint8Array;
  const at = byteOf(node) + (NODE.SETS + (shape >>> 16) * setWordsOf(shape)) * 4;
  for (let i = 0; i < relative; i++) if (bytes[at + i] !== name.charCodeAt(i)) return false;
  return true;
}

type VisitName = (hash: number, node: number) => void;

/** Visits each name of a zone with its hash and the ref of its node. */
export function forEachName(image: Image, root: number, visit: VisitName): void {
  const buckets = 1 << log2BucketsOf(image, root);
  for (let number = 0; number < buckets; number++) forEachPair(bucketOf(image, root, number), visit);
}

function forEachPair({ words, at }: Bucket, visit: VisitName): void {
  const end = at + 1 + 2 * (words[at] as number);
  for (let pair = at + 1; pair < end; pair += 2) visit(words[pair] as number, words[pair + 1] as number);
}

/** Visits the blocks of a root's buckets. A bucket in the root itself has no block. */
export function forEachBucket(image: Image, root: number, visit: (ref: number) => void): void {
  const log2 = log2BucketsOf(image, root);
  if (log2 === 0) return;
  const words = image.words[segmentOf(root)] as Int32Array;
  const at = indexAt(image, root);
  for (let number = 0; number < 1 << log2; number++) {
    const ref = words[at + number] as number;
    if (ref !== 0) visit(ref);
  }
}

export function unitsOfBucket(image: Image, ref: number): number {
  return unitsForBucket((image.words[segmentOf(ref)] as Int32Array)[wordOf(ref)] as number);
}
