// Checks the zones of an image: the root, the index of names, the order indexes and the sums.

import type { Name } from '../../../dns/name.ts';
import { TYPE } from '../../../dns/type-codes.ts';
import { denialStyle, hashIn } from '../../../zone/find-denials.ts';
import type { RecordSet } from '../../../zone/zone.ts';
import type { Image } from '../image.ts';
import {
  apexLabelsOf,
  byteOf,
  HEADER,
  log2BucketsIn,
  MAX_LOG2_BUCKETS,
  ROOT,
  ROOT_FLAG,
  ROOT_FLAGS,
  ROOT_ORDER,
  ROOT_ORDER_WORDS,
  segmentOf,
  wordOf,
} from '../layout.ts';
import { viewNode } from '../read-node.ts';
import { readRoot } from '../zone-root.ts';
import { NodeCheck } from './check-node.ts';
import { checkOrder } from './check-order.ts';
import { CheckedName } from './checked-name.ts';
import { CheckedZone } from './checked-zone.ts';
import { demand } from './demand.ts';
import type { TakenSpace } from './taken-space.ts';

/** A served zone has at most one of these flags. */
const APEX_FLAGS = ROOT_FLAG.APEX_ONLY | ROOT_FLAG.UNPROVEN | ROOT_FLAG.EXPIRED | ROOT_FLAG.PRIVATE;

export class ZoneCheck {
  readonly #image: Image;
  readonly #space: TakenSpace;
  readonly #onStep: () => void;
  readonly #name: CheckedName;
  readonly #nodes: NodeCheck;

  constructor(image: Image, space: TakenSpace, onStep: () => void) {
    this.#image = image;
    this.#space = space;
    this.#onStep = onStep;
    this.#name = new CheckedName(image);
    this.#nodes = new NodeCheck(image, space, this.#name);
  }

  /** Returns the hash of the apex. */
  check(root: number): number {
    const image = this.#image;
    const words = this.#space.enter(root, ROOT.APEX);
    const at = wordOf(root);
    const numbers = image.numbers[segmentOf(root)] as Float64Array;
    for (const number of [ROOT.ID, ROOT.VERSION, ROOT.MARK]) {
      demand(Number.isSafeInteger(numbers[(at + number) >> 1]), 'a zone has no version');
    }
    const shape = words[at + ROOT.SHAPE] as number;
    const apexOctets = (shape >>> 8) & 0xff;
    const log2 = log2BucketsIn(shape);
    const names = words[at + ROOT.NAMES] as number;
    demand(shape >>> 30 === 0, 'the flags of a zone are wrong');
    demand(log2 <= MAX_LOG2_BUCKETS && names >= 0 && names < this.#space.end, 'a zone has an invalid index');
    const index = at + ROOT.APEX + ((apexOctets + 3) >> 2);
    const order = index + (log2 === 0 ? 1 + 2 * names : 1 << log2);
    const hasOrder = (shape & ROOT_FLAG.HAS_ORDER) !== 0;
    this.#space.takeWords(root, order - at + (hasOrder ? ROOT_ORDER_WORDS : 0));
    const apex = { octets: apexOctets, hash: this.#readApex(root, apexOctets, apexLabelsOf(shape)) };
    const zone = new CheckedZone(root, words, apex, hasOrder);
    if (log2 === 0) {
      demand(words[index] === names, 'the sums of a zone are wrong');
      this.#checkNames(zone, words, index);
    } else this.#checkBuckets(zone, words, index, log2);
    this.#checkDenials(zone, order);
    checkSums(zone);
    return apex.hash;
  }

  #readApex(root: number, apexOctets: number, labels: number): number {
    const { header, bytes } = this.#image;
    const name = this.#name;
    name.readApex(bytes[segmentOf(root)] as Uint8Array, byteOf(root) + ROOT.APEX * 4, apexOctets);
    demand(name.labels === labels, 'an apex has the wrong number of labels');
    const depths = header[HEADER.APEX_DEPTHS] as number;
    demand(((depths >>> Math.min(labels, 31)) & 1) === 1, 'an apex is too deep');
    return name.apexHash(apexOctets);
  }

  #checkBuckets(zone: CheckedZone, words: Int32Array, index: number, log2: number): void {
    for (let number = 0; number < 1 << log2; number++) {
      const bucket = words[index + number] as number;
      if (bucket === 0) continue;
      const bucketWords = this.#space.enter(bucket, 1);
      const count = bucketWords[wordOf(bucket)] as number;
      const isPossible = count > 0 && count <= zone.word(ROOT.NAMES);
      demand(isPossible, 'a bucket has an invalid number of names');
      this.#space.takeWords(bucket, 1 + 2 * count);
      this.#checkNames(zone, bucketWords, wordOf(bucket), { number, log2 });
    }
  }

  /** Checks a list of names: their number, then pairs of a hash and a node. `bucket` is undefined if it is the only list. */
  #checkNames(
    zone: CheckedZone,
    words: Int32Array,
    at: number,
    bucket?: { readonly number: number; readonly log2: number },
  ): void {
    const count = words[at] as number;
    for (let pair = at + 1; pair < at + 1 + 2 * count; pair += 2) {
      const hash = words[pair] as number;
      const isInBucket = bucket === undefined || hash >>> (32 - bucket.log2) === bucket.number;
      demand(isInBucket, 'a name is in the wrong bucket');
      const found = this.#nodes.checkNamed(words[pair + 1] as number, zone);
      demand(found === hash, 'a name has the wrong hash');
      if ((++zone.names & 0xff) === 0) this.#onStep();
    }
  }

  /** Checks the order indexes, whose refs are at word `at` of the segment, if the root has any. */
  #checkDenials(zone: CheckedZone, at: number): void {
    const { isSigned, hasParameters, denying } = zone;
    demand(zone.has(ROOT_FLAG.NOT_SERVED) !== zone.hasApex, 'a zone has no apex');
    if (denying === undefined) {
      demand(!isSigned && !zone.has(ROOT_FLAG.SIGNED), 'a zone has the wrong kind of order index');
      return;
    }
    const image = this.#image;
    const { root } = zone;
    const { apex, apexNode, signed, denials, idleDenials, isHashed } = readRoot(image, root);
    const isPlain = !isSigned || !hasParameters; // true for most zones, which are then not decoded
    const signedStyle = isPlain ? 'nsec' : denialStyle(viewNode(image, apexNode, apex).sets);
    const style = isSigned ? signedStyle : 'none';
    const isOfStyle = signed === (style !== 'none') && isHashed === (typeof style === 'object');
    demand(
      isOfStyle && (signed || denials !== 0 || idleDenials !== 0),
      'a zone has the wrong kind of order index',
    );
    const word = (image.words[segmentOf(root)] as Int32Array)[at + ROOT_ORDER.IS_HASHED] as number;
    demand(word === (isHashed ? 1 : 0), 'a zone has the wrong kind of order index');
    const hashed = (isInChain: boolean) => (node: number) => {
      this.#nodes.checkHashed(node, zone);
      if ((zone.hashed & 0xff) === 0) this.#onStep();
      const set = viewNode(image, node, apex).sets.get(TYPE.NSEC3) as RecordSet;
      const isOfChain = typeof style === 'object' && hashIn(set, style, apex) !== undefined;
      demand(isOfChain === isInChain, 'an NSEC3 set is in the wrong order index');
    };
    const plain = (node: number) => demand(denying.has(node), 'an order index has a wrong name');
    const proving = this.#checkOrder(denials, apex, isHashed ? hashed(true) : plain);
    if (!isHashed) demand(proving === (signed ? denying.size : 0), 'an order index lacks a name');
    this.#checkOrder(idleDenials, apex, hashed(false));
  }

  #checkOrder(order: number, apex: Name, checkItem: (node: number) => void): number {
    return checkOrder({ image: this.#image, apex, space: this.#space, checkItem }, order);
  }
}

/** Compares the sums over the names with the root's sums and flags. */
function checkSums(zone: CheckedZone): void {
  const isSame =
    zone.names === zone.word(ROOT.NAMES) &&
    zone.records === zone.word(ROOT.RECORDS) &&
    zone.cuts === zone.word(ROOT.CUTS) &&
    zone.dnames === zone.word(ROOT.DNAMES) &&
    zone.wildcards === zone.word(ROOT.WILDCARDS) &&
    zone.children === Math.max(0, zone.names - 1) &&
    zone.wildcardParents === zone.wildcards;
  demand(isSame, 'the sums of a zone are wrong');
  const flags = zone.word(ROOT.SHAPE) & ROOT_FLAGS;
  const apexFlags = flags & APEX_FLAGS;
  const isServed = !zone.has(ROOT_FLAG.NOT_SERVED);
  const wanted =
    (zone.cuts > 0 ? ROOT_FLAG.HAS_CUT : 0) |
    (zone.dnames > 0 ? ROOT_FLAG.HAS_DNAME : 0) |
    (zone.wildcards > 0 ? ROOT_FLAG.HAS_WILDCARD : 0);
  const ofOrder = ROOT_FLAG.HAS_ORDER | ROOT_FLAG.SIGNED; // checked with the order indexes
  const others = ofOrder | (isServed ? apexFlags : ROOT_FLAG.NOT_SERVED);
  const isPossible =
    (isServed || (flags & ofOrder) === 0) &&
    isServed === zone.names > 0 &&
    (apexFlags & (apexFlags - 1)) === 0;
  demand(isPossible && (flags & ~others) === wanted, 'the flags of a zone are wrong');
}
