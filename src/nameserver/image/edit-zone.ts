// Changes record sets of a served zone. Writes new blocks for the names that the changes touch, for those names' buckets
// and for the root, and shares all others with the previous version. The result is validated by the rules of build-zone.ts.

import { isWildcard, isWithin, labelCount, type Name, parentOf } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { soaNumbers } from '../../zone/build-zone.ts';
import { checkApex, checkNode, checkSizes } from '../../zone/check-node.ts';
import { collectRecords } from '../../zone/collect-records.ts';
import { type DenialStyle, denialStyle, isSameStyle } from '../../zone/find-denials.ts';
import { MARK_TYPE, type RecordSet, type ZoneRecord } from '../../zone/zone.ts';
import { ProblemList } from '../../zone/zone-problem.ts';
import { DenialEdit } from './edit-denials.ts';
import { hashName } from './hash-name.ts';
import type { Image } from './image.ts';
import { MIN_MEAN_NAMES, NODE_FLAG } from './layout.ts';
import { changeIndex, findNode, unitsOfBucket } from './name-index.ts';
import type { OrderChange } from './order-index.ts';
import { viewNode } from './read-node.ts';
import type { Space } from './space.ts';
import { recordsOfSet, StoredSet, signaturesOfSet, withSignatures } from './stored-set.ts';
import { type NodeContent, shapeOfNode, unitsOfNode, writeNode } from './write-node.ts';
import {
  log2BucketsFor,
  log2BucketsOf,
  type RootContent,
  readRoot,
  unitsOfRoot,
  writeRoot,
  type ZoneContent,
} from './zone-root.ts';

export interface ZoneChanges {
  /** The changed record sets, each complete. */
  readonly records: readonly ZoneRecord[];
  /** The deleted record sets. */
  readonly gone: readonly { readonly owner: Name; readonly type: number }[];
}

/** A name that the changes touch. */
interface TouchedName extends NodeContent {
  readonly hash: number;
  /** Ref of the served node; 0 if the name does not exist. */
  readonly oldNode: number;
  readonly before: NodeContent | undefined;
  /** Ref of the node to be served; 0 if the name will not exist. */
  newNode: number;
  readonly sets: Map<number, RecordSet>;
  children: number;
  hasWildcardChild: boolean;
  marked: boolean;
}

/** One edit of one zone. Call `apply`, `write` and, once the new root is published, `retire`. */
export class ZoneEdit {
  readonly #image: Image;
  readonly #space: Space;
  readonly #root: number;
  readonly #served: RootContent;
  readonly #touched = new Map<Name, TouchedName>();
  /** The touched names by number of labels. */
  readonly #levels: TouchedName[][] = [];
  readonly #hashed: DenialEdit;
  #oldBuckets: readonly number[] = [];
  /** The zone's flags from the marks at its apex, except the mark that makes it `apexOnly`. */
  #flags: ZoneFlags;

  constructor(image: Image, space: Space, root: number) {
    this.#image = image;
    this.#space = space;
    this.#root = root;
    this.#served = readRoot(image, root);
    this.#hashed = new DenialEdit(image, space, this.#served);
    const { unproven, expired, isPrivate } = this.#served;
    this.#flags = { unproven, expired, isPrivate };
  }

  /**
   * Returns false if the touched names alone do not show that the result is a valid zone, or if the proof of denials changes.
   */
  apply({ records, gone }: ZoneChanges): boolean {
    const { apex } = this.#served;
    const problems = new ProblemList();
    const changed = collectRecords(apex, records, problems);
    if (problems.list.length > 0) return false;
    const signatures = new Map<Name, SignaturesOfOwner>(changed.signatures);
    for (const { owner, type } of gone) {
      if (!isWithin(owner, apex)) continue;
      if (type === TYPE.RRSIG) signatures.set(owner, NO_SIGNATURES);
      else if (type === TYPE.NSEC3) this.#hashed.touch(owner).set = undefined;
      else this.#remove(owner, type);
    }
    for (const { name, sets } of changed.nodes.values()) {
      const touched = this.#touch(name);
      for (const set of sets.values()) touched.sets.set(set.type, signedAs(set, touched.sets.get(set.type)));
      if (changed.marked.has(name)) this.#mark(touched, true, NO_FLAGS);
      else if (name === apex && (changed.unproven || changed.expired || changed.isPrivate))
        this.#mark(touched, false, changed);
    }
    for (const set of changed.hashed.values()) {
      const touched = this.#hashed.touch(set.owner);
      touched.set = signedAs(set, touched.set);
    }
    for (const [owner, ofOwner] of signatures) this.#sign(owner, ofOwner);
    this.#checkSizes(problems);
    if (problems.list.length > 0 || this.#style === undefined) return false;
    this.#settle();
    return this.#isSound();
  }

  #remove(owner: Name, type: number): void {
    const name = this.#touch(owner);
    name.sets.delete(type);
    if (type === MARK_TYPE) this.#mark(name, false, NO_FLAGS);
  }

  /** Replaces the signatures of an owner's sets. `signatures` is complete. */
  #sign(owner: Name, signatures: SignaturesOfOwner): void {
    const { sets } = this.#touch(owner);
    for (const [type, set] of sets) sets.set(type, resigned(set, signatures.get(type)?.rdata));
    const hashed = this.#hashed.touch(owner);
    if (hashed.set !== undefined) hashed.set = resigned(hashed.set, signatures.get(TYPE.NSEC3)?.rdata);
  }

  #checkSizes(problems: ProblemList): void {
    for (const { name, sets } of this.#touched.values()) {
      const isNew = (set: RecordSet) => !(set instanceof StoredSet);
      checkSizes(name, [...sets.values()].filter(isNew), problems);
    }
    for (const { owner, set } of this.#hashed.owners)
      if (set !== undefined) checkSizes(owner, [set], problems);
  }

  /** How the edited zone proves denials. Undefined if the method changes, so that the whole chain is added or removed. */
  get #style(): DenialStyle | undefined {
    const before = denialStyle(viewNode(this.#image, this.#served.apexNode, this.#served.apex).sets);
    const apexNode = this.#touched.get(this.#served.apex);
    return apexNode === undefined || isSameStyle(denialStyle(apexNode.sets), before) ? before : undefined;
  }

  #mark(name: TouchedName, marked: boolean, { unproven, expired, isPrivate }: ZoneFlags): void {
    name.marked = marked;
    if (name.name === this.#served.apex) this.#flags = { unproven, expired, isPrivate };
  }

  #touch(name: Name): TouchedName {
    const known = this.#touched.get(name);
    if (known !== undefined) return known;
    const { apex } = this.#served;
    const hash = hashName(this.#image.header, name);
    const oldNode = findNode(this.#image, this.#root, apex, name, hash);
    const before = oldNode === 0 ? undefined : viewNode(this.#image, oldNode, apex);
    const touched: TouchedName = {
      ...(before ?? { name, children: 0, hasWildcardChild: false, marked: false }),
      hash,
      oldNode,
      before,
      newNode: 0,
      sets: new Map(before?.sets),
    };
    this.#touched.set(name, touched);
    const labels = labelCount(name);
    for (let level = this.#levels.length; level <= labels; level++) this.#levels.push([]);
    this.#levels[labels]?.push(touched);
    return touched;
  }

  /** Adds and removes names and the names above them that exist only for them (RFC 4592 §2.2.2), deepest first. */
  #settle(): void {
    const apexLabels = labelCount(this.#served.apex);
    for (let level = this.#levels.length - 1; level > apexLabels; level--) {
      for (const name of this.#levels[level] as TouchedName[]) {
        const isThere = exists(name);
        if (isThere === (name.oldNode !== 0)) continue;
        const parent = this.#touch(parentOf(name.name));
        parent.children += isThere ? 1 : -1;
        if (isWildcard(name.name)) parent.hasWildcardChild = isThere;
      }
    }
  }

  #isSound(): boolean {
    const { apex } = this.#served;
    const problems = new ProblemList();
    const apexNode = this.#touched.get(apex);
    if (apexNode !== undefined) checkApex(apex, apexNode.sets, problems);
    for (const name of this.#touched.values()) {
      if (name.sets.size > 0 || name.marked)
        checkNode(apex, name, (above) => this.#hasDname(above), problems);
      if (name.sets.has(TYPE.DNAME) && name.children > 0) return false; // the DNAME has untouched names below it
    }
    return problems.list.length === 0;
  }

  #hasDname(name: Name): boolean {
    const touched = this.#touched.get(name);
    if (touched !== undefined) return touched.sets.has(TYPE.DNAME);
    const { apex, dnames } = this.#served;
    if (dnames === 0) return false;
    const node = findNode(this.#image, this.#root, apex, name, hashName(this.#image.header, name));
    return node !== 0 && (shapeOfNode(this.#image, node) & NODE_FLAG.HAS_DNAME) !== 0;
  }

  /** Returns the zone's new root, not yet published. Throws ImageFullError. */
  write(content: ZoneContent): number {
    const { apex } = this.#served;
    const { id, version, mark } = content;
    const root = { ...this.#served, id, version, mark, ...this.#flags };
    for (const name of this.#touched.values()) {
      if (name.before !== undefined) count(root, name.before, -1);
      if (!exists(name) && name.name !== apex) continue;
      count(root, name, 1);
      name.newNode = writeNode(this.#image, this.#space, apex, name);
    }
    root.records += this.#hashed.moreRecords;
    Object.assign(
      root,
      this.#hashed.write(this.#style ?? 'none', [...this.#touched.values()].map(denialChange)),
    );
    const apexNode = this.#touched.get(apex);
    if (apexNode !== undefined) {
      root.apexNode = apexNode.newNode;
      root.apexOnly = apexNode.marked;
      Object.assign(root, soaNumbers(apexNode.sets.get(TYPE.SOA) as RecordSet));
    }
    const log2 = log2BucketsOf(this.#image, this.#root);
    const isEven = log2BucketsFor(root.names) <= log2 && root.names >= MIN_MEAN_NAMES << log2;
    const ref = writeRoot(this.#image, this.#space, root, isEven ? log2 : log2BucketsFor(root.names));
    const changes = [...this.#touched.values()];
    this.#oldBuckets = changeIndex(this.#image, this.#space, this.#root, ref, changes);
    return ref;
  }

  /** Retires the blocks of the previous version that the new one does not share. */
  retire(): void {
    for (const { oldNode } of this.#touched.values()) {
      if (oldNode !== 0) this.#space.retire(oldNode, unitsOfNode(this.#image, oldNode));
    }
    for (const ref of this.#oldBuckets) this.#space.retire(ref, unitsOfBucket(this.#image, ref));
    this.#hashed.retire();
    this.#space.retire(this.#root, unitsOfRoot(this.#image, this.#root));
  }
}

type ZoneFlags = Pick<RootContent, 'unproven' | 'expired' | 'isPrivate'>;
const NO_FLAGS: ZoneFlags = { unproven: false, expired: false, isPrivate: false };

type SignaturesOfOwner = ReadonlyMap<number, { readonly rdata: readonly Uint8Array[] }>;
const NO_SIGNATURES: SignaturesOfOwner = new Map();

/** Returns the set with the signatures of the one it replaces, unless they are sent too: the store sends every change. */
function signedAs(set: RecordSet, before: RecordSet | undefined): RecordSet {
  if (before === undefined || signaturesOfSet(before) === 0) return set;
  return withSignatures(set, before.signatures);
}

/** Returns the set with these signatures; the same object if it already has them. */
function resigned(set: RecordSet, signatures: readonly Uint8Array[] = []): RecordSet {
  const isSame =
    signaturesOfSet(set) === signatures.length &&
    (signatures.length === 0 || (set.signatures ?? []).every((one, i) => isSameRdata(one, signatures[i])));
  return isSame ? set : withSignatures(set, signatures);
}

function isSameRdata(one: Uint8Array, other: Uint8Array | undefined): boolean {
  return other !== undefined && Buffer.compare(one, other) === 0;
}

function denialChange({ name, sets, before, oldNode, newNode }: TouchedName): OrderChange {
  const had = before?.sets.has(TYPE.NSEC) === true;
  return { name, oldNode: had ? oldNode : 0, newNode: sets.has(TYPE.NSEC) ? newNode : 0 };
}

function exists({ sets, children, marked }: NodeContent): boolean {
  return sets.size > 0 || children > 0 || marked;
}

/** Adds a name to the sums of a root, or subtracts it. */
function count(root: Writable<RootContent>, { name, sets }: NodeContent, sign: 1 | -1): void {
  for (const set of sets.values()) root.records += sign * (recordsOfSet(set) + signaturesOfSet(set));
  root.names += sign;
  if (sets.has(TYPE.NS) && name !== root.apex) root.cuts += sign;
  if (sets.has(TYPE.DNAME)) root.dnames += sign;
  if (isWildcard(name)) root.wildcards += sign;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };
