// Finds the NSEC or NSEC3 records that prove what an answer denies, like find-proof does in zones (RFC 4035 §3.1.3, RFC
// 5155 §7.2). Records that the zone lacks are omitted. The result is kept in fields, so that no objects are allocated.

import { MAX_NAME_OCTETS } from '../../../dns/name.ts';
import { TYPE } from '../../../dns/type-codes.ts';
import type { Image } from '../image.ts';
import { NODE, NODE_FLAG, segmentOf, wordOf } from '../layout.ts';
import type { NameFinder } from './find-name.ts';
import { OrderFinder } from './find-order.ts';
import type { FoldedName } from './folded-name.ts';
import { FIRST_RDATA, FoundSet } from './found-set.ts';
import { NameHasher } from './name-hasher.ts';

/** Each link of a chain may have one, and the last name four. */
const MAX_PROOFS = 40;
const WILDCARD_OCTETS = 2;
const SHA1 = 1;
const OPT_OUT = 1;
const SHA1_OCTETS = 20;

export class ProofFinder {
  /** The distinct nodes whose NSEC or NSEC3 set is a proof; the first `count` are valid. */
  readonly nodes = new Int32Array(MAX_PROOFS);
  count = 0;
  /** The type of the sets: NSEC or NSEC3. */
  type = 0;
  /** True if a nonexistent name has the hash of an existing one, so that its absence cannot be proven (RFC 5155 §7.2.9). */
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

  /** Begins the proofs for one answer from a signed zone. */
  begin(): void {
    const zone = this.#zone;
    this.count = 0;
    this.collides = false;
    this.type = zone.isHashed ? TYPE.NSEC3 : TYPE.NSEC;
    if (zone.isHashed) this.#hasher.begin(zone.apexNode, zone.apexLabels);
  }

  /** Proves that an existing name, which starts at a label, does not have the type, or that it is a zone cut without DS. */
  noType(name: FoldedName, label: number, node: number): void {
    if (this.type === TYPE.NSEC) this.#ownOrBefore(name, label, false, node);
    else {
      const own = this.#matching(name, label, false);
      if (own !== 0) this.#add(own);
      else if (label < this.#apexLabelOf(name)) this.#proveEncloser(name, label, label + 1); // RFC 5155 §7.2.4, §7.2.7
    }
  }

  /** Proves that neither the name exists nor a wildcard below its closest encloser, which starts at label `encloser`. */
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

  /** Proves that the name does not exist, for an answer from the wildcard below its closest encloser. */
  expanded(name: FoldedName, encloser: number): void {
    if (this.type === TYPE.NSEC) this.#addBefore(name, 0, false);
    else this.#cover(name, encloser - 1, false); // RFC 5155 §7.2.6
  }

  /** Same as `expanded`, for a wildcard that does not have the type. */
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
    // The next name in the NSEC before an empty non-terminal is below the empty non-terminal.
    if (shape >>> 16 === 0 && (shape & NODE_FLAG.MARKED) === 0) this.#addBefore(name, label, isWildcard);
  }

  /** Adds the NSEC that covers a name without one, in the order of the owners. */
  #addBefore(name: FoldedName, label: number, isWildcard: boolean): void {
    const zone = this.#zone;
    this.#add(this.#order.find(zone.denials, name, label, isWildcard, zone.apexLabels));
  }

  /**
   * Adds the closest encloser proof (RFC 5155 §7.2.1). `existing` is the start of the longest existing suffix, and
   * `encloser` of the first name to try. With opt-out, the closest provable encloser is used, if a record with the
   * opt-out bit covers the next closer name. Returns the start of the provable encloser, or -1 if there is no proof.
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

  /** Adds the node that the last search found. */
  #addCovering(node: number): void {
    if (this.#order.isMatch) this.collides = true;
    this.#add(node);
  }

  /** Returns the node with the hash of an existing name, or 0. */
  #matching(name: FoldedName, label: number, isWildcard: boolean): number {
    this.#hasher.hash(name, label, isWildcard, true);
    const node = this.#findHash();
    return this.#order.isMatch ? node : 0;
  }

  /** Returns the node whose hash precedes that of a name. Wildcards are below existing names, so their hashes are cached. */
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

/** Returns true if the wildcard below the suffix that starts at a label is not too long for a name. */
function hasWildcardName(name: FoldedName, label: number): boolean {
  return name.length - (name.labelAt[label] as number) + WILDCARD_OCTETS <= MAX_NAME_OCTETS;
}
