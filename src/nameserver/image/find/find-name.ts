// Finds names in one zone of an image (RFC 1034 §4.3.2 step 3). Uses only numbers and fixed buffers, so that no objects
// are allocated.

import { TYPE } from '../../../dns/type-codes.ts';
import type { Image } from '../image.ts';
import {
  apexLabelsOf,
  byteOf,
  log2BucketsIn,
  NODE,
  NODE_FLAG,
  ROOT,
  ROOT_FLAG,
  ROOT_FLAGS,
  ROOT_ORDER,
  segmentOf,
  setWordsOf,
  wordOf,
} from '../layout.ts';
import type { FoldedName } from './folded-name.ts';

/**
 * Where a walk down the tree ended: at the name itself or its wildcard, at a zone cut, at a DNAME above the name, or nowhere.
 */
export const PLACE = { NODE: 0, CUT: 1, DNAME: 2, NOTHING: 3 } as const;
type Place = (typeof PLACE)[keyof typeof PLACE];

const WILDCARD_OCTETS = 2;
const SPECIAL =
  ROOT_FLAG.APEX_ONLY | ROOT_FLAG.NOT_SERVED | ROOT_FLAG.UNPROVEN | ROOT_FLAG.EXPIRED | ROOT_FLAG.PRIVATE;

export class NameFinder {
  /** The node at which the last walk ended. */
  node = 0;
  /** The label of the name at which the node's owner, or the closest encloser, starts. */
  label = 0;
  /** True if the node is the wildcard at the closest encloser. */
  isWildcard = false;

  /** The current zone, and values from its root. */
  root = 0;
  apexOctets = 0;
  apexLabels = 0;
  apexNode = 0;
  readonly #images: readonly Int32Array[];
  readonly #bytes: readonly Uint8Array[];
  #flags = 0;
  #rootWords: Int32Array;
  #index = 0;
  #log2Buckets = 0;

  constructor(image: Image) {
    this.#images = image.words;
    this.#bytes = image.bytes;
    this.#rootWords = image.header;
  }

  /** Selects this version of a zone for later searches. */
  enter(root: number): void {
    const words = this.#images[segmentOf(root)] as Int32Array;
    const at = wordOf(root);
    const shape = words[at + ROOT.SHAPE] as number;
    this.root = root;
    this.apexOctets = (shape >>> 8) & 0xff;
    this.apexLabels = apexLabelsOf(shape);
    this.apexNode = words[at + ROOT.APEX_NODE] as number;
    this.#flags = shape & ROOT_FLAGS;
    this.#rootWords = words;
    this.#index = at + ROOT.APEX + ((this.apexOctets + 3) >>> 2);
    this.#log2Buckets = log2BucketsIn(shape);
  }

  /** True if the zone is not ordinary: answered in part, not at all (`isNotServed`, `isExpired`, `isPrivate`), or unproven. */
  get isSpecial(): boolean {
    return (this.#flags & SPECIAL) !== 0;
  }

  get isExpired(): boolean {
    return (this.#flags & ROOT_FLAG.EXPIRED) !== 0;
  }

  get isPrivate(): boolean {
    return (this.#flags & ROOT_FLAG.PRIVATE) !== 0;
  }

  get isUnproven(): boolean {
    return (this.#flags & ROOT_FLAG.UNPROVEN) !== 0;
  }

  get isNotServed(): boolean {
    return (this.#flags & ROOT_FLAG.NOT_SERVED) !== 0;
  }

  /** The order index of the NSEC or NSEC3 sets that prove denials, for zones with DNSSEC, and whether it is for NSEC3. */
  get denials(): number {
    return this.#rootWords[this.#orderAt() + ROOT_ORDER.DENIALS] as number;
  }

  get isHashed(): boolean {
    return this.#rootWords[this.#orderAt() + ROOT_ORDER.IS_HASHED] === 1;
  }

  /** Returns the position of the words of ROOT_ORDER, which follow the index. */
  #orderAt(): number {
    const pairs = 1 + 2 * (this.#rootWords[wordOf(this.root) + ROOT.NAMES] as number);
    return this.#index + (this.#log2Buckets === 0 ? pairs : 1 << this.#log2Buckets);
  }

  /** True if answers with DO have signatures and proofs. */
  get isSigned(): boolean {
    return (this.#flags & ROOT_FLAG.SIGNED) !== 0;
  }

  get serial(): number {
    return this.#rootWords[wordOf(this.root) + ROOT.SERIAL] as number;
  }

  get negativeTtl(): number {
    return this.#rootWords[wordOf(this.root) + ROOT.NEGATIVE_TTL] as number;
  }

  /** The zone's row id, a Float64, as two words. Returned as one number it would be allocated on the heap. */
  get idLow(): number {
    return this.#rootWords[wordOf(this.root) + ROOT.ID] as number;
  }

  get idHigh(): number {
    return this.#rootWords[wordOf(this.root) + ROOT.ID + 1] as number;
  }

  /** Returns true if the node of the last walk has a CNAME. */
  hasCname(): boolean {
    return (this.#flagsOf(this.node) & NODE_FLAG.HAS_CNAME) !== 0;
  }

  /** Returns true if the wildcard `*` exists directly below a node. */
  hasWildcardChild(node: number): boolean {
    return (this.#flagsOf(node) & NODE_FLAG.HAS_WILDCARD_CHILD) !== 0;
  }

  /** Walks down from the apex. `name` must be at or below it. */
  walk(name: FoldedName, qtype: number): Place {
    const apexLabel = name.labels - this.apexLabels;
    this.isWildcard = false;
    if ((this.#flags & (ROOT_FLAG.HAS_CUT | ROOT_FLAG.HAS_DNAME)) !== 0)
      return this.#walkByLabel(name, apexLabel, qtype);
    // The zone has no cuts and DNAMEs: find the name itself, or else its closest encloser.
    for (let label = 0; label < apexLabel; label++) {
      const node = this.find(name, label);
      if (node === 0) continue;
      this.node = node;
      this.label = label;
      return label === 0 ? PLACE.NODE : this.#atWildcard(name);
    }
    this.node = this.apexNode;
    this.label = apexLabel;
    return apexLabel === 0 ? PLACE.NODE : this.#atWildcard(name);
  }

  /** Walks label by label, so that the topmost cut or DNAME decides. */
  #walkByLabel(name: FoldedName, apexLabel: number, qtype: number): Place {
    this.node = this.apexNode;
    this.label = apexLabel;
    for (let label = apexLabel - 1; label >= 0; label--) {
      if ((this.#flagsOf(this.node) & NODE_FLAG.HAS_DNAME) !== 0) return PLACE.DNAME; // a DNAME applies to the names below it (RFC 6672 §2.3)
      const next = this.find(name, label);
      if (next === 0) return this.#atWildcard(name);
      this.node = next;
      this.label = label;
      const isDsOfCut = label === 0 && qtype === TYPE.DS;
      if ((this.#flagsOf(next) & NODE_FLAG.IS_CUT) !== 0 && !isDsOfCut) return PLACE.CUT;
    }
    return PLACE.NODE;
  }

  /** Step 3c: only the wildcard at the closest encloser is the source of synthesis (RFC 4592 §3.3.1). */
  #atWildcard(name: FoldedName): Place {
    if (!this.hasWildcardChild(this.node)) return PLACE.NOTHING;
    this.node = this.#findWildcard(name, this.label);
    this.isWildcard = true;
    return PLACE.NODE;
  }

  #flagsOf(node: number): number {
    return ((this.#images[segmentOf(node)] as Int32Array)[wordOf(node) + NODE.SHAPE] as number) & 0xff;
  }

  /** Returns the node of the suffix of `name` that starts at a label, which is at or below the apex, or 0. */
  find(name: FoldedName, label: number): number {
    const hash = name.hashes[label] as number;
    const from = name.labelAt[label] as number;
    const to = name.length - this.apexOctets;
    const length = to - from;
    if (length === 0) return this.apexNode;
    const { nodeAhead } = name;
    if (
      label === 0 &&
      name.rootAhead === this.root &&
      nodeAhead !== 0 &&
      this.#isNodeOf(nodeAhead, name, from, to)
    )
      return nodeAhead;
    const words = this.#enterBucket(hash);
    const at = this.#bucketAt;
    const end = at + 2 * (words[at] as number);
    for (let pair = at + 1; pair < end; pair += 2) {
      if (words[pair] !== hash) continue;
      const node = words[pair + 1] as number;
      if (this.#isNodeOf(node, name, from, to)) return node;
    }
    return 0;
  }

  /** Returns true if the octets of `name` between two offsets are the owner of a node, relative to the apex. */
  #isNodeOf(node: number, name: FoldedName, from: number, to: number): boolean {
    const words = this.#images[segmentOf(node)] as Int32Array;
    const at = wordOf(node);
    const shape = words[at + NODE.SHAPE] as number;
    if (((shape >>> 8) & 0xff) !== to - from) return false;
    return name.isAt(from, to, words, at + NODE.SETS + (shape >>> 16) * setWordsOf(shape));
  }

  #bucketAt = 0;

  #enterBucket(hash: number): Int32Array {
    if (this.#log2Buckets === 0) {
      this.#bucketAt = this.#index;
      return this.#rootWords;
    }
    const bucket = this.#rootWords[this.#index + (hash >>> (32 - this.#log2Buckets))] as number;
    this.#bucketAt = bucket === 0 ? NO_NAMES_AT : wordOf(bucket);
    return bucket === 0 ? NO_NAMES : (this.#images[segmentOf(bucket)] as Int32Array);
  }

  /** Returns the node of `*` below the suffix that starts at a label. It must exist. */
  #findWildcard(name: FoldedName, label: number): number {
    const hash = name.wildcardHash(label);
    const from = name.labelAt[label] as number;
    const length = name.length - this.apexOctets - from;
    const words = this.#enterBucket(hash);
    const at = this.#bucketAt;
    const end = at + 2 * (words[at] as number);
    for (let pair = at + 1; pair < end; pair += 2) {
      if (words[pair] !== hash) continue;
      const node = words[pair + 1] as number;
      const shape = (this.#images[segmentOf(node)] as Int32Array)[wordOf(node) + NODE.SHAPE] as number;
      if (((shape >>> 8) & 0xff) !== WILDCARD_OCTETS + length) continue;
      const bytes = this.#bytes[segmentOf(node)] as Uint8Array;
      const owner = byteOf(node) + (NODE.SETS + (shape >>> 16) * setWordsOf(shape)) * 4;
      let isSame = bytes[owner] === 1 && bytes[owner + 1] === 0x2a;
      for (let i = 0; i < length && isSame; i++)
        isSame = bytes[owner + WILDCARD_OCTETS + i] === name.octets[from + i];
      if (isSame) return node;
    }
    throw new Error('a node refers to a wildcard that does not exist');
  }
}

const NO_NAMES = Int32Array.of(0);
const NO_NAMES_AT = 0;
