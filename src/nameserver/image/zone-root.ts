// The block of a zone's root: written with the index of its names, and read by the writer and by readers that are not
// time-critical.

import { labelCount, type Name } from '../../dns/name.ts';
import type { Image } from './image.ts';
import {
  byteOf,
  log2BucketsIn,
  MAX_LOG2_BUCKETS,
  MAX_MEAN_NAMES,
  ROOT,
  ROOT_FLAG,
  ROOT_ORDER,
  ROOT_ORDER_WORDS,
  segmentOf,
  UNIT_BYTES,
  wordOf,
} from './layout.ts';
import type { Space } from './space.ts';

/** The store's content from which a zone was built. */
export interface ZoneContent {
  readonly id: number;
  readonly version: number;
  readonly mark: number;
}

/** The content of a root, without its index. */
export interface RootContent extends ZoneContent, ZoneOrder {
  readonly apex: Name;
  readonly apexNode: number;
  readonly serial: number;
  readonly negativeTtl: number;
  readonly records: number;
  readonly names: number;
  readonly cuts: number;
  readonly dnames: number;
  readonly wildcards: number;
  readonly apexOnly: boolean;
  readonly unproven: boolean;
  readonly expired: boolean;
  readonly isPrivate: boolean;
  /** False if the zone belongs to the fleet but cannot be served. */
  readonly isServed: boolean;
}

/** The root's information about signatures and proofs. */
export interface ZoneOrder {
  /** True if the SOA is signed. */
  readonly signed: boolean;
  /** Refs of order indexes, 0 for none, and whether the first is for NSEC3 (ROOT_ORDER). */
  readonly denials: number;
  readonly idleDenials: number;
  readonly isHashed: boolean;
}

/** For zones without DNSSEC. */
export const NO_ORDER: ZoneOrder = { signed: false, denials: 0, idleDenials: 0, isHashed: false };

function hasOrder({ signed, denials, idleDenials }: ZoneOrder): boolean {
  return signed || denials !== 0 || idleDenials !== 0;
}

/** A run of pairs (hash, ref of a node) in words: a bucket after its count. */
export interface Bucket {
  readonly words: Int32Array;
  /** Index of the word with the count. */
  readonly at: number;
}

const NO_NAMES: Bucket = { words: new Int32Array(1), at: 0 };

export function log2BucketsFor(names: number): number {
  let log2 = 0;
  while (names > MAX_MEAN_NAMES << log2 && log2 < MAX_LOG2_BUCKETS) log2++;
  return log2;
}

/** Returns the number of a hash's bucket. */
export function bucketNumber(hash: number, log2Buckets: number): number {
  return log2Buckets === 0 ? 0 : hash >>> (32 - log2Buckets);
}

/** Returns the words of the index after the apex: the bucket itself, or the refs of the buckets. */
function indexWords(log2Buckets: number, names: number): number {
  return log2Buckets === 0 ? 1 + 2 * names : 1 << log2Buckets;
}

function unitsForRoot(apexOctets: number, log2Buckets: number, names: number, isOrdered: boolean): number {
  const words =
    ROOT.APEX + wordsOf(apexOctets) + indexWords(log2Buckets, names) + (isOrdered ? ROOT_ORDER_WORDS : 0);
  return Math.ceil((words * 4) / UNIT_BYTES);
}

function wordsOf(bytes: number): number {
  return (bytes + 3) >> 2;
}

/** Writes a new root. Its index is still to be filled in from word `indexAt`. Throws ImageFullError. */
export function writeRoot(image: Image, space: Space, root: RootContent, log2Buckets: number): number {
  const isOrdered = hasOrder(root);
  const ref = space.allocate(unitsForRoot(root.apex.length, log2Buckets, root.names, isOrdered));
  const words = image.words[segmentOf(ref)] as Int32Array;
  const numbers = image.numbers[segmentOf(ref)] as Float64Array;
  const at = wordOf(ref);
  numbers[(at + ROOT.ID) >> 1] = root.id;
  numbers[(at + ROOT.VERSION) >> 1] = root.version;
  numbers[(at + ROOT.MARK) >> 1] = root.mark;
  words[at + ROOT.RECORDS] = root.records;
  words[at + ROOT.NAMES] = root.names;
  words[at + ROOT.CUTS] = root.cuts;
  words[at + ROOT.DNAMES] = root.dnames;
  words[at + ROOT.WILDCARDS] = root.wildcards;
  const flags =
    (root.cuts > 0 ? ROOT_FLAG.HAS_CUT : 0) |
    (root.dnames > 0 ? ROOT_FLAG.HAS_DNAME : 0) |
    (root.wildcards > 0 ? ROOT_FLAG.HAS_WILDCARD : 0) |
    (root.apexOnly ? ROOT_FLAG.APEX_ONLY : 0) |
    (root.unproven ? ROOT_FLAG.UNPROVEN : 0) |
    (root.expired ? ROOT_FLAG.EXPIRED : 0) |
    (root.isPrivate ? ROOT_FLAG.PRIVATE : 0) |
    (root.isServed ? 0 : ROOT_FLAG.NOT_SERVED) |
    (isOrdered ? ROOT_FLAG.HAS_ORDER : 0) |
    (root.signed ? ROOT_FLAG.SIGNED : 0);
  words[at + ROOT.SHAPE] =
    flags | (root.apex.length << 8) | (labelCount(root.apex) << 16) | (log2Buckets << 24);
  words[at + ROOT.APEX_NODE] = root.apexNode;
  words[at + ROOT.SERIAL] = root.serial;
  words[at + ROOT.NEGATIVE_TTL] = root.negativeTtl;
  const bytes = image.bytes[segmentOf(ref)] as Uint8Array;
  const apexAt = byteOf(ref) + ROOT.APEX * 4;
  words[at + ROOT.APEX + wordsOf(root.apex.length) - 1] = 0;
  for (let i = 0; i < root.apex.length; i++) bytes[apexAt + i] = root.apex.charCodeAt(i);
  if (isOrdered) writeOrderWords(words, orderAt(image, ref), root);
  return ref;
}

function writeOrderWords(words: Int32Array, at: number, root: ZoneOrder): void {
  words[at + ROOT_ORDER.DENIALS] = root.denials;
  words[at + ROOT_ORDER.IDLE] = root.idleDenials;
  words[at + ROOT_ORDER.IS_HASHED] = root.isHashed ? 1 : 0;
}

/** Returns the word at which a root with HAS_ORDER has its order indexes: after the index of names. */
function orderAt(image: Image, ref: number): number {
  const names = (image.words[segmentOf(ref)] as Int32Array)[wordOf(ref) + ROOT.NAMES] as number;
  return indexAt(image, ref) + indexWords(log2BucketsOf(image, ref), names);
}

function readOrderWords(image: Image, ref: number): ZoneOrder {
  const shape = shapeOf(image, ref);
  if ((shape & ROOT_FLAG.HAS_ORDER) === 0) return NO_ORDER;
  const words = image.words[segmentOf(ref)] as Int32Array;
  const at = orderAt(image, ref);
  return {
    signed: (shape & ROOT_FLAG.SIGNED) !== 0,
    denials: words[at + ROOT_ORDER.DENIALS] as number,
    idleDenials: words[at + ROOT_ORDER.IDLE] as number,
    isHashed: words[at + ROOT_ORDER.IS_HASHED] === 1,
  };
}

export function readRoot(image: Image, ref: number): RootContent {
  const words = image.words[segmentOf(ref)] as Int32Array;
  const numbers = image.numbers[segmentOf(ref)] as Float64Array;
  const at = wordOf(ref);
  return {
    id: numbers[(at + ROOT.ID) >> 1] as number,
    version: numbers[(at + ROOT.VERSION) >> 1] as number,
    mark: numbers[(at + ROOT.MARK) >> 1] as number,
    records: words[at + ROOT.RECORDS] as number,
    names: words[at + ROOT.NAMES] as number,
    cuts: words[at + ROOT.CUTS] as number,
    dnames: words[at + ROOT.DNAMES] as number,
    wildcards: words[at + ROOT.WILDCARDS] as number,
    apexOnly: (shapeOf(image, ref) & ROOT_FLAG.APEX_ONLY) !== 0,
    unproven: isUnprovenRoot(image, ref),
    expired: (shapeOf(image, ref) & ROOT_FLAG.EXPIRED) !== 0,
    isPrivate: (shapeOf(image, ref) & ROOT_FLAG.PRIVATE) !== 0,
    isServed: isServedRoot(image, ref),
    apex: apexOf(image, ref),
    apexNode: words[at + ROOT.APEX_NODE] as number,
    serial: (words[at + ROOT.SERIAL] as number) >>> 0,
    negativeTtl: words[at + ROOT.NEGATIVE_TTL] as number,
    ...readOrderWords(image, ref),
  };
}

export function isServedRoot(image: Image, ref: number): boolean {
  return (shapeOf(image, ref) & ROOT_FLAG.NOT_SERVED) === 0;
}

export function isUnprovenRoot(image: Image, ref: number): boolean {
  return (shapeOf(image, ref) & ROOT_FLAG.UNPROVEN) !== 0;
}

export function recordsOfRoot(image: Image, ref: number): number {
  return (image.words[segmentOf(ref)] as Int32Array)[wordOf(ref) + ROOT.RECORDS] as number;
}

export function unitsOfRoot(image: Image, ref: number): number {
  const shape = shapeOf(image, ref);
  const names = (image.words[segmentOf(ref)] as Int32Array)[wordOf(ref) + ROOT.NAMES] as number;
  const isOrdered = (shape & ROOT_FLAG.HAS_ORDER) !== 0;
  return unitsForRoot((shape >>> 8) & 0xff, log2BucketsIn(shape), names, isOrdered);
}

export function log2BucketsOf(image: Image, ref: number): number {
  return log2BucketsIn(shapeOf(image, ref));
}

function shapeOf(image: Image, ref: number): number {
  return (image.words[segmentOf(ref)] as Int32Array)[wordOf(ref) + ROOT.SHAPE] as number;
}

function apexOf(image: Image, ref: number): Name {
  const bytes = image.bytes[segmentOf(ref)] as Uint8Array;
  const at = byteOf(ref) + ROOT.APEX * 4;
  const end = at + ((shapeOf(image, ref) >>> 8) & 0xff);
  let apex = '';
  for (let i = at; i < end; i++) apex += String.fromCharCode(bytes[i] as number);
  return apex as Name;
}

export function hasApex(image: Image, ref: number, apex: Name): boolean {
  if (((shapeOf(image, ref) >>> 8) & 0xff) !== apex.length) return false;
  const bytes = image.bytes[segmentOf(ref)] as Uint8Array;
  const at = byteOf(ref) + ROOT.APEX * 4;
  for (let i = 0; i < apex.length; i++) if (bytes[at + i] !== apex.charCodeAt(i)) return false;
  return true;
}

/** Returns the word at which the index starts. */
export function indexAt(image: Image, ref: number): number {
  return wordOf(ref) + ROOT.APEX + wordsOf((shapeOf(image, ref) >>> 8) & 0xff);
}

export function bucketOf(image: Image, root: number, number: number): Bucket {
  const words = image.words[segmentOf(root)] as Int32Array;
  const at = indexAt(image, root);
  if (log2BucketsOf(image, root) === 0) return { words, at };
  const ref = words[at + number] as number;
  return ref === 0 ? NO_NAMES : { words: image.words[segmentOf(ref)] as Int32Array, at: wordOf(ref) };
}
