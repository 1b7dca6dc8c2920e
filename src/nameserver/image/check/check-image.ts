// Whether an image that was read from a file is one that its writer made: blocks lie inside and do not overlap, every
// loop over them ends, every name and zone is found under its hash, every sum is correct. Whether TTL and rdata of
// records are correct cannot be told from it. Each block is read once, and one bit is set for each of its units.

import { TYPE } from '../../../dns/type-codes.ts';
import { denialStyle, hashIn } from '../../../zone/find-denials.ts';
import { EDGE_MARK_TYPE, type RecordSet } from '../../../zone/zone.ts';
import { isSoundEdgeBlock, unitsOfEdgeSets } from '../edge-block.ts';
import { hashFactors, mixChunk } from '../hash-name.ts';
import type { Image } from '../image.ts';
import {
  byteOf,
  EDGE_REGIONS_AT,
  HEADER,
  HEADER_BYTES,
  MAX_LOG2_BUCKETS,
  MAX_LOG2_CAPACITY,
  MIN_LOG2_CAPACITY,
  NODE,
  NODE_FLAG,
  REMOVED,
  ROOT,
  ROOT_FLAG,
  ROOT_ORDER,
  ROOT_ORDER_WORDS,
  SEGMENT_UNITS,
  SET,
  segmentOf,
  setWordsOf,
  TABLE,
  TABLE_SLOT_WORDS,
  UNIT_BYTES,
  unitsForTable,
  wordOf,
} from '../layout.ts';
import { viewNode } from '../read-node.ts';
import { classFor, unitsOfClass } from '../size-class.ts';
import { isServedRoot, readRoot } from '../zone-root.ts';
import { type CheckedBlocks, checkOrder } from './check-order.ts';
import { areSoundSignatures, isSoundSet } from './check-set.ts';

const FIRST_BLOCK = HEADER_BYTES / UNIT_BYTES;
const MAX_NAME_OCTETS = 255;
const MAX_LABEL_OCTETS = 63;
const KNOWN_FLAGS = Object.values(NODE_FLAG).reduce((all: number, flag) => all | flag, 0);
/** A zone that is served has one of these at most. */
const ONE_APEX_FLAG = ROOT_FLAG.APEX_ONLY | ROOT_FLAG.UNPROVEN;
const SOA_TIMERS_OCTETS = 20; // SERIAL to MINIMUM (RFC 1035 §3.3.13)

class UnsoundImage extends Error {}

function demand(isSound: boolean, what: string): asserts isSound {
  if (!isSound) throw new UnsoundImage(what);
}

/** Why the image cannot be served; undefined: it is sound. `free` is what `exportFree` gave; `onStep` is called often. */
export function findImageFault(
  image: Image,
  free: Int32Array,
  onStep: () => void = () => undefined,
): string | undefined {
  try {
    new ImageCheck(image, onStep).check(free);
    return undefined;
  } catch (error) {
    if (error instanceof UnsoundImage) return error.message;
    throw error;
  }
}

/** The sums over the names of a zone, to be compared with its root. */
class ZoneSums {
  names = 0;
  records = 0;
  cuts = 0;
  dnames = 0;
  wildcards = 0;
  children = 0;
  wildcardParents = 0;
  hashed = 0;
  hasApex = false;
  isSigned = false;
  /** The apex has NSEC3PARAM. */
  hasParameters = false;
}

/** What the sets of a node tell. */
interface CheckedSets {
  /** NODE_FLAG bits that follow from types alone. */
  flags: number;
  isSigned: boolean;
  /** The highest type; -1: there is no set. */
  last: number;
  /** The octet after the SOA's records; 0: there is none. */
  soaEnd: number;
  isSoaSigned: boolean;
  hasNsec: boolean;
  hasParameters: boolean;
}

const FLAG_OF_TYPE: ReadonlyMap<number, number> = new Map([
  [TYPE.NS, NODE_FLAG.IS_CUT],
  [TYPE.DNAME, NODE_FLAG.HAS_DNAME],
  [TYPE.CNAME, NODE_FLAG.HAS_CNAME],
  [EDGE_MARK_TYPE, NODE_FLAG.EDGE],
]);

class ImageCheck {
  readonly #image: Image;
  readonly #onStep: () => void;
  readonly #end: number;
  /** A bit for each unit below the end: set when a block has it. */
  readonly #taken: Int32Array;
  #takenUnits = 0;
  /** The full name of the node or zone that is checked. */
  readonly #name = new Uint8Array(2 * MAX_NAME_OCTETS);
  readonly #labelAt = new Uint8Array(MAX_NAME_OCTETS);
  /** Refs of the nodes with NSEC of the zone that is checked, if it has an order index. */
  readonly #denying = new Set<number>();

  constructor(image: Image, onStep: () => void) {
    const { header } = image;
    const end = header[HEADER.END] as number;
    demand(end >= FIRST_BLOCK && end <= (header[HEADER.CAPACITY] as number), 'its end lies outside');
    this.#image = image;
    this.#onStep = onStep;
    this.#end = end;
    this.#taken = new Int32Array((end >>> 5) + 1);
  }

  check(free: Int32Array): void {
    const { header } = this.#image;
    const { a, b } = hashFactors(header[HEADER.HASH_SEED] as number);
    demand(header[HEADER.HASH_FACTOR_A] === a && header[HEADER.HASH_FACTOR_B] === b, 'its hash is another');
    demand(free.length % 2 === 0, 'its free space is cut short');
    for (let i = 0; i < free.length; i += 2) this.#take(free[i] as number, free[i + 1] as number);
    this.#checkTable();
    this.#checkEdgeSets();
    demand(this.#takenUnits === this.#end - FIRST_BLOCK, 'space in it is neither used nor free');
  }

  /** Marks a block as used: it lies inside, in one segment, and overlaps no other. */
  #take(ref: number, units: number): void {
    const isInside = ref >= FIRST_BLOCK && units > 0 && units <= this.#end - ref;
    demand(isInside && segmentOf(ref) === segmentOf(ref + units - 1), 'a block lies outside');
    const taken = this.#taken;
    const last = ref + units - 1;
    for (let word = ref >>> 5; word <= last >>> 5; word++) {
      const from = word === ref >>> 5 ? ref & 31 : 0;
      const to = word === last >>> 5 ? last & 31 : 31;
      const bits = (-1 >>> (31 - to)) & (-1 << from);
      demand(((taken[word] as number) & bits) === 0, 'two blocks overlap');
      taken[word] = (taken[word] as number) | bits;
    }
    this.#takenUnits += units;
    if ((units & 0xfff) === 0) this.#onStep();
  }

  #takeFor(ref: number, words: number): void {
    this.#take(ref, unitsOfClass(classFor(Math.ceil((words * 4) / UNIT_BYTES))));
  }

  /** Whether the words at the start of a block lie inside. */
  #enter(ref: number, words: number): Int32Array {
    const isInside = ref >= FIRST_BLOCK && ref + Math.ceil(words / 2) <= this.#end;
    demand(isInside && (ref % SEGMENT_UNITS) + Math.ceil(words / 2) <= SEGMENT_UNITS, 'a block lies outside');
    return this.#image.words[segmentOf(ref)] as Int32Array;
  }

  #checkTable(): void {
    const { header } = this.#image;
    const table = header[HEADER.ZONE_TABLE] as number;
    const words = this.#enter(table, TABLE.SLOTS);
    const log2 = words[wordOf(table) + TABLE.LOG2_CAPACITY] as number;
    demand(log2 >= MIN_LOG2_CAPACITY && log2 <= MAX_LOG2_CAPACITY, 'its zone table has another size');
    this.#take(table, unitsOfClass(classFor(unitsForTable(log2))));
    const slots = wordOf(table) + TABLE.SLOTS;
    const mask = (1 << log2) - 1;
    let taken = 0;
    let zones = 0;
    let records = 0;
    for (let slot = 0; slot <= mask; slot++) {
      const root = words[slots + slot * TABLE_SLOT_WORDS + 1] as number;
      if (root === 0) continue;
      taken++;
      if (root === REMOVED) continue;
      const hash = this.#checkZone(root);
      demand(words[slots + slot * TABLE_SLOT_WORDS] === hash, 'a zone has another hash');
      if (isServedRoot(this.#image, root)) zones++;
      records += (this.#image.words[segmentOf(root)] as Int32Array)[wordOf(root) + ROOT.RECORDS] as number;
      this.#onStep();
    }
    demand(taken === words[wordOf(table) + TABLE.TAKEN] && taken <= mask, 'its zone table is not as it was');
    demand(zones === header[HEADER.ZONES] && records === header[HEADER.RECORDS], 'its sums are others');
    this.#checkSearches(words, slots, log2);
  }

  #checkEdgeSets(): void {
    const image = this.#image;
    const ref = image.header[HEADER.EDGE_SETS] as number;
    if (ref === 0) return;
    this.#enter(ref, EDGE_REGIONS_AT);
    const units = unitsOfEdgeSets(image, ref);
    demand(units > 0, 'the sets of its regions have another size');
    this.#take(ref, unitsOfClass(classFor(units)));
    demand(
      isSoundEdgeBlock(image, ref, this.#end * UNIT_BYTES),
      'the sets of its regions are not as they were',
    );
  }

  /** Checks that every zone is found from its hash: no empty slot, which ends the search, lies before it. */
  #checkSearches(words: Int32Array, slots: number, log2: number): void {
    const mask = (1 << log2) - 1;
    const rootIn = (slot: number) => words[slots + (slot & mask) * TABLE_SLOT_WORDS + 1] as number;
    let empty = 0;
    while (rootIn(empty) !== 0) empty++; // the table always has a free entry
    let behindEmpty = 1;
    for (let i = 1; i <= mask; i++) {
      const slot = (empty + i) & mask;
      const root = rootIn(slot);
      if (root === 0) behindEmpty = i + 1;
      if (root === 0 || root === REMOVED) continue;
      const home = (words[slots + slot * TABLE_SLOT_WORDS] as number) >>> (32 - log2);
      demand(((slot - home) & mask) <= i - behindEmpty, 'a zone is not where it is looked for');
    }
  }

  /** Returns the hash of the apex. */
  #checkZone(root: number): number {
    const image = this.#image;
    const words = this.#enter(root, ROOT.APEX);
    const at = wordOf(root);
    const numbers = image.numbers[segmentOf(root)] as Float64Array;
    for (const number of [ROOT.ID, ROOT.VERSION, ROOT.MARK]) {
      demand(Number.isSafeInteger(numbers[(at + number) >> 1]), 'a zone has no version');
    }
    const shape = words[at + ROOT.SHAPE] as number;
    const apexOctets = (shape >>> 8) & 0xff;
    const log2 = shape >>> 24;
    const names = words[at + ROOT.NAMES] as number;
    demand(log2 <= MAX_LOG2_BUCKETS && names >= 0 && names < this.#end, 'a zone has an impossible index');
    const index = at + ROOT.APEX + ((apexOctets + 3) >> 2);
    const order = index + (log2 === 0 ? 1 + 2 * names : 1 << log2);
    const hasOrder = (shape & ROOT_FLAG.HAS_ORDER) !== 0;
    this.#takeFor(root, order - at + (hasOrder ? ROOT_ORDER_WORDS : 0));
    const apex = byteOf(root) + ROOT.APEX * 4;
    this.#name.set((image.bytes[segmentOf(root)] as Uint8Array).subarray(apex, apex + apexOctets));
    const labels = this.#readLabels(0, apexOctets - 1);
    demand(apexOctets > 0 && this.#name[apexOctets - 1] === 0, 'an apex is no name');
    demand(labels === ((shape >>> 16) & 0xff), 'an apex has another number of labels');
    demand(
      (((image.header[HEADER.APEX_DEPTHS] as number) >>> Math.min(labels, 31)) & 1) === 1,
      'an apex is too deep',
    );
    const hash = this.#hash(image.header[HEADER.HASH_SEED] as number, labels, apexOctets - 1);
    this.#name.copyWithin(MAX_NAME_OCTETS, 0, apexOctets); // every node's name ends in the apex
    const sums = new ZoneSums();
    if (hasOrder) this.#denying.clear();
    for (let number = 0; number < 1 << log2; number++) {
      if (log2 === 0) this.#checkBucket(root, words, index, apexOctets, hash, -1, log2, sums);
      else {
        const bucket = words[index + number] as number;
        if (bucket === 0) continue;
        const bucketWords = this.#enter(bucket, 1);
        const count = bucketWords[wordOf(bucket)] as number;
        demand(count > 0 && count <= names, 'a bucket has an impossible number of names');
        this.#takeFor(bucket, 1 + 2 * count);
        this.#checkBucket(root, bucketWords, wordOf(bucket), apexOctets, hash, number, log2, sums);
      }
    }
    this.#checkDenials(root, hasOrder ? order : -1, apexOctets, sums);
    this.#checkSums(words, at, shape & 0xff, sums);
    return hash;
  }

  #checkSums(words: Int32Array, at: number, flags: number, sums: ZoneSums): void {
    const isSame =
      sums.names === words[at + ROOT.NAMES] &&
      sums.records === words[at + ROOT.RECORDS] &&
      sums.cuts === words[at + ROOT.CUTS] &&
      sums.dnames === words[at + ROOT.DNAMES] &&
      sums.wildcards === words[at + ROOT.WILDCARDS] &&
      sums.children === Math.max(0, sums.names - 1) &&
      sums.wildcardParents === sums.wildcards;
    demand(isSame, 'the sums of a zone are others');
    const wanted =
      (sums.cuts > 0 ? ROOT_FLAG.HAS_CUT : 0) |
      (sums.dnames > 0 ? ROOT_FLAG.HAS_DNAME : 0) |
      (sums.wildcards > 0 ? ROOT_FLAG.HAS_WILDCARD : 0);
    const isServed = (flags & ROOT_FLAG.NOT_SERVED) === 0;
    const ofOrder = ROOT_FLAG.HAS_ORDER | ROOT_FLAG.SIGNED; // checked with the order indexes
    demand(isServed || (flags & ofOrder) === 0, 'the flags of a zone are others');
    demand(isServed === sums.names > 0, 'the flags of a zone are others');
    demand(
      (flags & ~ofOrder & ~(isServed ? flags & ONE_APEX_FLAG : ROOT_FLAG.NOT_SERVED)) === wanted &&
        (flags & ONE_APEX_FLAG) !== ONE_APEX_FLAG,
      'the flags of a zone are others',
    );
  }

  #checkBucket(
    root: number,
    words: Int32Array,
    at: number,
    apexOctets: number,
    apexHash: number,
    number: number,
    log2: number,
    sums: ZoneSums,
  ): void {
    const count = words[at] as number;
    if (number < 0) {
      const rootWords = this.#image.words[segmentOf(root)] as Int32Array;
      demand(count === rootWords[wordOf(root) + ROOT.NAMES], 'the sums of a zone are others');
    }
    for (let pair = at + 1; pair < at + 1 + 2 * count; pair += 2) {
      const hash = words[pair] as number;
      demand(number < 0 || hash >>> (32 - log2) === number, 'a name lies in another bucket');
      demand(
        this.#checkNode(words[pair + 1] as number, root, apexOctets, apexHash, sums) === hash,
        'a name has another hash',
      );
      if ((++sums.names & 0xff) === 0) this.#onStep();
    }
  }

  /** Checks the order indexes, whose refs stand at a word of the root; -1: the root has none. */
  #checkDenials(root: number, at: number, apexOctets: number, sums: ZoneSums): void {
    const image = this.#image;
    const shape = (image.words[segmentOf(root)] as Int32Array)[wordOf(root) + ROOT.SHAPE] as number;
    const isServed = (shape & ROOT_FLAG.NOT_SERVED) === 0;
    demand(isServed === sums.hasApex, 'a zone has no apex');
    if (at < 0) {
      const isUnsigned = !sums.isSigned && (shape & ROOT_FLAG.SIGNED) === 0;
      demand(isUnsigned, 'a zone proves in another way');
      return;
    }
    const { apex, apexNode, signed, denials, idleDenials, isHashed } = readRoot(image, root);
    const isPlain = !sums.isSigned || !sums.hasParameters; // most are: nothing has to be decoded to know
    const signedStyle = isPlain ? 'nsec' : denialStyle(viewNode(image, apexNode, apex).sets);
    const style = sums.isSigned ? signedStyle : 'none';
    const isOfStyle = signed === (style !== 'none') && isHashed === (typeof style === 'object');
    demand(isOfStyle && (signed || denials !== 0 || idleDenials !== 0), 'a zone proves in another way');
    const word = (image.words[segmentOf(root)] as Int32Array)[at + ROOT_ORDER.IS_HASHED] as number;
    demand(word === (isHashed ? 1 : 0), 'a zone proves in another way');
    const hashed = (wantsChain: boolean) => (node: number) => {
      this.#checkHashed(node, apexOctets, sums);
      const set = viewNode(image, node, apex).sets.get(TYPE.NSEC3) as RecordSet;
      const isOfChain = typeof style === 'object' && hashIn(set, style, apex) !== undefined;
      demand(isOfChain === wantsChain, 'an NSEC3 stands in another order index');
    };
    const denying = (node: number) => demand(this.#denying.has(node), 'an order index has another name');
    const proving = checkOrder(image, denials, apex, this.#blocks(isHashed ? hashed(true) : denying));
    if (!isHashed) demand(proving === (signed ? this.#denying.size : 0), 'an order index lacks a name');
    checkOrder(image, idleDenials, apex, this.#blocks(hashed(false)));
  }

  #blocks(checkItem: (node: number) => void): CheckedBlocks {
    return {
      demand,
      enter: (ref, words) => this.#enter(ref, words),
      takeFor: (ref, words) => this.#takeFor(ref, words),
      checkItem,
    };
  }

  /** A node that has an NSEC3 set and nothing else. */
  #checkHashed(node: number, apexOctets: number, sums: ZoneSums): void {
    const { labels } = this.#takeNode(node, apexOctets);
    const words = this.#image.words[segmentOf(node)] as Int32Array;
    const at = wordOf(node);
    const shape = words[at + NODE.SHAPE] as number;
    const found = new ZoneSums();
    const { isSigned, last } = this.#checkSets(node, apexOctets, found);
    const isAlone =
      shape >>> 16 === 1 && last === TYPE.NSEC3 && labels > 0 && words[at + NODE.CHILDREN] === 0;
    // A wildcard cannot be a hash, but the owner of an idle NSEC3 may be anything.
    const flags = (isSigned ? NODE_FLAG.SIGNED : 0) | (shape & NODE_FLAG.IS_WILDCARD);
    demand(isAlone && (shape & 0xff) === flags, 'an NSEC3 is not alone');
    sums.records += found.records;
    if ((++sums.hashed & 0xff) === 0) this.#onStep();
  }

  /** Marks the block of a node as used and reads its name into `#name`. */
  #takeNode(node: number, apexOctets: number): { labels: number; relative: number } {
    const words = this.#enter(node, NODE.SETS);
    const at = wordOf(node);
    const shape = words[at + NODE.SHAPE] as number;
    const relative = (shape >>> 8) & 0xff;
    const setWords = setWordsOf(shape);
    const setsEnd = NODE.SETS + (shape >>> 16) * setWords;
    this.#enter(node, setsEnd);
    demand(relative + apexOctets <= MAX_NAME_OCTETS, 'a name is too long');
    let length = setsEnd * 4 + relative;
    for (let word = at + NODE.SETS; word < at + setsEnd; word += setWords) {
      length += (words[word + SET.OCTETS] as number) & 0xffff;
      if (setWords > SET.SIGNATURES) length += (words[word + SET.SIGNATURES] as number) & 0xffff;
    }
    this.#takeFor(node, Math.ceil(length / UNIT_BYTES) * 2);
    const bytes = this.#image.bytes[segmentOf(node)] as Uint8Array;
    const from = byteOf(node) + setsEnd * 4;
    const name = this.#name;
    for (let i = 0; i < relative; i++) name[i] = bytes[from + i] as number;
    for (let i = 0; i < apexOctets; i++) name[relative + i] = name[MAX_NAME_OCTETS + i] as number;
    return { labels: this.#readLabels(0, relative), relative };
  }

  /** Checks the sets of the node whose name was read last. Returns the flags that they give, and the last type. */
  #checkSets(node: number, apexOctets: number, sums: ZoneSums): CheckedSets {
    const words = this.#image.words[segmentOf(node)] as Int32Array;
    const octets = this.#image.bytes[segmentOf(node)] as Uint8Array;
    const at = wordOf(node);
    const shape = words[at + NODE.SHAPE] as number;
    const relative = (shape >>> 8) & 0xff;
    const setWords = setWordsOf(shape);
    const setsEnd = at + NODE.SETS + (shape >>> 16) * setWords;
    const owner = this.#name;
    const ownerOctets = relative + apexOctets;
    const checked: CheckedSets = {
      flags: 0,
      isSigned: false,
      last: -1,
      soaEnd: 0,
      isSoaSigned: false,
      hasNsec: false,
      hasParameters: false,
    };
    let setAt = byteOf(node) + (setsEnd - at) * 4 + relative;
    for (let word = at + NODE.SETS; word < setsEnd; word += setWords) {
      const type = (words[word + SET.TYPE] as number) & 0xffff;
      const records = (words[word + SET.TYPE] as number) >>> 16;
      const second = words[word + SET.OCTETS] as number;
      const third = setWords > SET.SIGNATURES ? (words[word + SET.SIGNATURES] as number) : 0;
      demand(type > checked.last && type !== TYPE.RRSIG, 'the sets of a name are out of order');
      const place = { octets, at: setAt, type, records, second, owner, ownerOctets, apexOctets };
      demand(isSoundSet(place), 'a record set is not as its type demands');
      demand(third === 0 || areSoundSignatures(place, third), 'a signature is none');
      if (type === TYPE.SOA) {
        checked.soaEnd = setAt + (second & 0xffff);
        checked.isSoaSigned = third !== 0;
      }
      setAt += (second & 0xffff) + (third & 0xffff);
      sums.records += records + (third >>> 16);
      checked.isSigned ||= third !== 0;
      checked.hasNsec ||= type === TYPE.NSEC;
      checked.hasParameters ||= type === TYPE.NSEC3PARAM;
      checked.last = type;
      checked.flags |= FLAG_OF_TYPE.get(type) ?? 0;
    }
    return checked;
  }

  /** Returns the hash of its name. */
  #checkNode(node: number, root: number, apexOctets: number, apexHash: number, sums: ZoneSums): number {
    const { labels, relative } = this.#takeNode(node, apexOctets);
    const words = this.#image.words[segmentOf(node)] as Int32Array;
    const at = wordOf(node);
    const shape = words[at + NODE.SHAPE] as number;
    const children = words[at + NODE.CHILDREN] as number;
    const name = this.#name;
    const isApex = relative === 0;
    const rootWords = this.#image.words[segmentOf(root)] as Int32Array;
    if (isApex) demand(rootWords[wordOf(root) + ROOT.APEX_NODE] === node, 'a zone has another apex');
    const isWildcard = !isApex && name[0] === 1 && name[1] === 0x2a;
    const { flags, isSigned, last, soaEnd, isSoaSigned, hasNsec, hasParameters } = this.#checkSets(
      node,
      apexOctets,
      sums,
    );
    const wanted =
      (isApex ? flags & ~NODE_FLAG.IS_CUT : flags) |
      (shape & (NODE_FLAG.HAS_WILDCARD_CHILD | NODE_FLAG.MARKED)) |
      (isWildcard ? NODE_FLAG.IS_WILDCARD : 0) |
      (isSigned ? NODE_FLAG.SIGNED : 0);
    demand((shape & 0xff) === wanted && (wanted & ~KNOWN_FLAGS) === 0, 'the flags of a name are others');
    const bytes = this.#image.bytes[segmentOf(node)] as Uint8Array;
    const hasSoa = soaEnd > 0 && this.#isSoaOf(rootWords, wordOf(root), bytes, soaEnd);
    demand(!isApex || hasSoa, 'a zone has another SOA');
    if (isApex) sums.hasApex = true;
    if (isApex) sums.isSigned = isSoaSigned;
    if (isApex) sums.hasParameters = hasParameters;
    const rootFlags = rootWords[wordOf(root) + ROOT.SHAPE] as number;
    const isMarkedApex = (rootFlags & ROOT_FLAG.APEX_ONLY) !== 0;
    if (isApex) demand(isMarkedApex === ((shape & NODE_FLAG.MARKED) !== 0), 'the flags of a zone are others');
    demand(
      children >= 0 && (isApex || last >= 0 || children > 0 || (shape & NODE_FLAG.MARKED) !== 0),
      'a name has nothing',
    );
    if (hasNsec && (rootFlags & ROOT_FLAG.HAS_ORDER) !== 0) this.#denying.add(node);
    sums.children += children;
    if ((wanted & NODE_FLAG.IS_CUT) !== 0) sums.cuts++;
    if ((wanted & NODE_FLAG.HAS_DNAME) !== 0) sums.dnames++;
    if (isWildcard) sums.wildcards++;
    if ((wanted & NODE_FLAG.HAS_WILDCARD_CHILD) !== 0) sums.wildcardParents++;
    return this.#hash(apexHash, labels, relative);
  }

  /** The root says the serial and the negative TTL of the SOA whose rdata ends at `end`. */
  #isSoaOf(words: Int32Array, at: number, bytes: Uint8Array, end: number): boolean {
    const view = new DataView(bytes.buffer, bytes.byteOffset + end - SOA_TIMERS_OCTETS, SOA_TIMERS_OCTETS);
    const isNegativeTtl = (words[at + ROOT.NEGATIVE_TTL] as number) <= view.getUint32(16);
    return view.getUint32(0) === (words[at + ROOT.SERIAL] as number) >>> 0 && isNegativeTtl;
  }

  /** Notes where the labels of `#name` start, which must end at `to`. Returns how many there are. */
  #readLabels(from: number, to: number): number {
    const name = this.#name;
    let labels = 0;
    let at = from;
    while (at < to) {
      const length = name[at] as number;
      demand(length > 0 && length <= MAX_LABEL_OCTETS && at + length < to, 'a name has an impossible label');
      for (let i = at + 1; i <= at + length; i++) {
        const octet = name[i] as number;
        demand(octet < 0x41 || octet > 0x5a, 'a name is not folded'); // RFC 4343 §3
      }
      this.#labelAt[labels++] = at;
      at += length + 1;
    }
    demand(at === to, 'a name has an impossible label');
    return labels;
  }

  /** The hash of the labels that were read last, in front of a suffix with this hash. */
  #hash(suffix: number, labels: number, to: number): number {
    const { header } = this.#image;
    const a = header[HEADER.HASH_FACTOR_A] as number;
    const b = header[HEADER.HASH_FACTOR_B] as number;
    const name = this.#name;
    let hash = suffix;
    let end = to;
    for (let label = labels - 1; label >= 0; label--) {
      const start = this.#labelAt[label] as number;
      for (let i = start; i < end; i += 4) {
        let chunk = name[i] as number;
        for (let j = 1; j < 4 && i + j < end; j++) chunk |= (name[i + j] as number) << (8 * j);
        hash = mixChunk(hash, chunk, a, b);
      }
      end = start;
    }
    return hash;
  }
}
