// Finds the NSEC or NSEC3 records that prove what an answer denies, as find-proof does in zones: RFC 4035 §3.1.3, RFC 5155
// §7.2. What the zone lacks is left out. The result stands in fixed fields, so that no garbage is made.

import { MAX_NAME_OCTETS } from '../../../dns/name.ts';
import { TYPE } from '../../../dns/type-codes.ts';
import type { Image } from '../image.ts';
import { NODE, NODE_FLAG, segmentOf, wordOf } from '../layout.ts';
import type { NameFinder } from './find-name.ts';
import { OrderFinder } from './find-order.ts';
import type { FoldedName } from './folded-name.ts';
import { FIRST_RDATA, FoundSet } from './found-set.ts';
import { NameHasher } from './name-hasher.ts';

/** Each link of a chain may have one, the last name four. */
const MAX_PROOFS = 40;
const WILDCARD_OCTETS = 2;
const SHA1 = 1;
const OPT_OUT = 1;
const SHA1_OCTETS = 20;

export class ProofFinder {
  /** The nodes whose NSEC or NSEC3 set is a proof, each once: the first `count`. */
  readonly nodes = new Int32Array(MAX_PROOFS);
  count = 0;
  /** The type of the sets: NSEC or NSEC3. */
  type = 0;
  /** A name that is not there has the hash of one that is: its absence cannot be proven (RFC 5155 §7.2.9). */
  collides = false;
  readonly #image: Image;
  readonly #zone: NameFinder;
  readonly #order: OrderFinder;
  readonly #hasher: NameHasher;
  readonly #set = new FoundSet();

  constructor(image: Image, zone: NameFinder) {
    this.#image = image;
    this.#zone = zone;
    this.#order = new OrderFinder(image);
    this.#hasher = new NameHasher(image);
  }

  /** Begins the proofs of one answer of the zone, which is signed. */
  begin(): void {
    const zone = this.#zone;
    this.count = 0;
    this.collides = false;
    this.type = zone.isHashed ? TYPE.NSEC3 : TYPE.NSEC;
    if (zone.isHashed) this.#hasher.begin(zone.apexNode, zone.apexLabels);
  }

  /** The name that starts at a label is there, its node has not the type; or it is a cut without DS. */
  noType(name: FoldedName, label: number, node: number): void {
    if (this.type === TYPE.NSEC) this.#ownOrBefore(name, label, false, node);
    else {
      const own = this.#matching(name, label, false);
      if (own !== 0) this.#add(own);
      else if (label < this.#apexLabelOf(name)) this.#proveEncloser(name, label, label + 1); // RFC 5155 §7.2.4, §7.2.7
    }
  }

  /** Neither the name is there nor a wildcard below its closest encloser, which starts at a label. */
  noName(name: FoldedName, encloser: number): void {
    if (this.type === TYPE.NSEC) {
      this.#addBefore(name, 0, false);
      if (hasWildcardName(name, encloser)) this.#addBefore(name, encloser, true);
      return;
    }
    const provable = this.#proveEncloser(name, encloser, encloser);
    if (provable < 0 || !hasWildcardName(name, provable)) return;
    if (provable > encloser && this.#zone.hasWildcardChild(this.#zone.find(name, provable))) return;
    this.#cover(name, provable, true);
  }

  /** The name is not there: its answer comes from the wildcard below its closest encloser, which starts at a label. */
  expanded(name: FoldedName, encloser: number): void {
    if (this.type === TYPE.NSEC) this.#addBefore(name, 0, false);
    else this.#cover(name, encloser - 1, false); // RFC 5155 §7.2.6
  }

  /** Likewise, and the wildcard has not the type. */
  noWildcardType(name: FoldedName, encloser: number, wildcard: number): void {
    if (this.type === TYPE.NSEC) {
      this.#ownOrBefore(name, encloser, true, wildcard);
      this.#addBefore(name, 0, false);
      return;
    }
    this.#proveEncloser(name, encloser, encloser); // RFC 5155 §7.2.5
    const own = this.#matching(name, encloser, true);
    if (own !== 0) this.#add(own);
  }

  #apexLabelOf(name: FoldedName): number {
    return name.labels - this.#zone.apexLabels;
  }

  #ownOrBefore(name: FoldedName, label: number, isWildcard: boolean, node: number): void {
    if (this.#set.take(this.#image, node, TYPE.NSEC, 0, 0, 0)) {
      this.#add(node);
      return;
    }
    const shape = (this.#image.words[segmentOf(node)] as Int32Array)[wordOf(node) + NODE.SHAPE] as number;
    // The next name of the record before an empty non-terminal lies below it.
    if (shape >>> 16 === 0 && (shape & NODE_FLAG.MARKED) === 0) this.#addBefore(name, label, isWildcard);
  }

  /** The NSEC that covers a name which owns none, as the order of the owners has it. */
  #addBefore(name: FoldedName, label: number, isWildcard: boolean): void {
    const zone = this.#zone;
    this.#add(this.#order.find(zone.denials, name, label, isWildcard, zone.apexLabels));
  }

  /**
   * The proof of the closest encloser (RFC 5155 §7.2.1), given where the longest suffix that is there and the first name to
   * try start. Opt-out leaves names out: then it is the closest one that the chain knows, and a record with the opt-out bit
   * covers what it leaves out. Returns where that one starts; -1: there is no proof.
   */
  #proveEncloser(name: FoldedName, existing: number, encloser: number): number {
    const apexLabel = this.#apexLabelOf(name);
    let provable = encloser;
    let matching = this.#matching(name, provable, false);
    while (matching === 0 && provable < apexLabel) matching = this.#matching(name, ++provable, false);
    if (matching === 0) return -1;
    const covering = this.#covering(name, provable - 1, false);
    const isThere = provable > existing;
    if (isThere && !this.#isOptOut(covering)) return -1;
    this.#add(matching);
    this.#addCovering(covering);
    return provable;
  }

  #cover(name: FoldedName, label: number, isWildcard: boolean): void {
    this.#addCovering(this.#covering(name, label, isWildcard));
  }

  /** Adds what the search that was the last one found. */
  #addCovering(node: number): void {
    if (this.#order.isMatch) this.collides = true;
    this.#add(node);
  }

  /** The node whose hash is that of a name that is there; 0: there is none. */
  #matching(name: FoldedName, label: number, isWildcard: boolean): number {
    this.#hasher.hash(name, label, isWildcard, true);
    const node = this.#findHash();
    return this.#order.isMatch ? node : 0;
  }

  /** The node whose hash comes before that of a name. Wildcards stand below names that are there, so their hash is kept. */
  #covering(name: FoldedName, label: number, isWildcard: boolean): number {
    this.#hasher.hash(name, label, isWildcard, isWildcard);
    return this.#findHash();
  }

  #findHash(): number {
    return this.#order.find(this.#zone.denials, this.#hasher, 0, false, this.#zone.apexLabels);
  }

  #isOptOut(node: number): boolean {
    const set = this.#set;
    if (node === 0 || !set.take(this.#image, node, TYPE.NSEC3, 0, 0, 0)) return false;
    const octets = this.#image.bytes[set.segment] as Uint8Array;
    let at = set.at + FIRST_RDATA;
    for (let left = set.records; left > 0; left--) {
      const hashAt = at + 5 + (octets[at + 4] as number);
      const isOptOut = octets[at] === SHA1 && octets[at + 1] === OPT_OUT && octets[hashAt] === SHA1_OCTETS;
      if (isOptOut) return true;
      at += ((octets[at - 2] as number) << 8) + (octets[at - 1] as number) + FIRST_RDATA;
    }
    return false;
  }

  #add(node: number): void {
    if (node === 0) return;
    const { nodes } = this;
    for (let i = 0; i < this.count; i++) if (nodes[i] === node) return;
    nodes[this.count++] = node;
  }
}

/** Whether the wildcard below the suffix that starts at a label is a name at all. */
function hasWildcardName(name: FoldedName, label: number): boolean {
  return name.length - (name.labelAt[label] as number) + WILDCARD_OCTETS <= MAX_NAME_OCTETS;
}
