// Changes record sets of the zone that is served: makes new blocks for the names that they touch, for those names'
// buckets and for the root, and shares all others with the version before. The result is judged by the rules of
// build-zone.ts.

import { isWildcard, isWithin, labelCount, type Name, parentOf } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { soaNumbers } from '../build-zone.ts';
import { checkApex, checkNode, checkSizes } from '../check-node.ts';
import { collectRecords } from '../collect-records.ts';
import { MARK_TYPE, markOf, type RecordSet, unprovenMarkOf, type ZoneRecord } from '../zone.ts';
import { ProblemList } from '../zone-problem.ts';
import { hashName } from './hash-name.ts';
import type { Image } from './image.ts';
import { MIN_MEAN_NAMES, NODE_FLAG } from './layout.ts';
import { changeIndex, findNode, forEachName, unitsOfBucket } from './name-index.ts';
import { readNode, viewNode } from './read-node.ts';
import type { Space } from './space.ts';
import { recordsOfSet } from './stored-set.ts';
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
  /** The record sets that no longer exist. */
  readonly gone: readonly { readonly owner: Name; readonly type: number }[];
}

/** A name that the changes touch. */
interface TouchedName extends NodeContent {
  readonly hash: number;
  /** The ref of the node that is served; 0: the name does not exist. */
  readonly oldNode: number;
  readonly before: NodeContent | undefined;
  /** The ref of the node that will be served; 0: the name will not exist. */
  newNode: number;
  readonly sets: Map<number, RecordSet>;
  children: number;
  hasWildcardChild: boolean;
  marked: boolean;
}

/** One edit of one zone: `apply`, then `write`, then, once the new root is published, `retire`. */
export class ZoneEdit {
  readonly #image: Image;
  readonly #space: Space;
  readonly #root: number;
  readonly #served: RootContent;
  readonly #touched = new Map<Name, TouchedName>();
  /** The touched names, by their number of labels. */
  readonly #levels: TouchedName[][] = [];
  #oldBuckets: readonly number[] = [];
  #unproven: boolean;

  constructor(image: Image, space: Space, root: number) {
    this.#image = image;
    this.#space = space;
    this.#root = root;
    this.#served = readRoot(image, root);
    this.#unproven = this.#served.unproven;
  }

  /** False: the touched names alone do not tell whether the result is a valid zone. */
  apply({ records, gone }: ZoneChanges): boolean {
    const { apex } = this.#served;
    const problems = new ProblemList();
    const changed = collectRecords(apex, records, problems);
    if (problems.list.length > 0) return false;
    for (const { owner, type } of gone) {
      if (!isWithin(owner, apex)) continue;
      const name = this.#touch(owner);
      name.sets.delete(type);
      if (type === MARK_TYPE) this.#mark(name, false, false);
    }
    for (const { name, sets } of changed.nodes.values()) {
      checkSizes(name, sets, problems);
      const touched = this.#touch(name);
      for (const set of sets.values()) touched.sets.set(set.type, set);
      if (changed.marked.has(name)) this.#mark(touched, true, false);
      else if (name === apex && changed.unproven) this.#mark(touched, false, true);
    }
    if (problems.list.length > 0) return false;
    this.#settle();
    return this.#isSound();
  }

  #mark(name: TouchedName, marked: boolean, unproven: boolean): void {
    name.marked = marked;
    if (name.name === this.#served.apex) this.#unproven = unproven;
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

  /** Adds and removes names together with the names below them (RFC 4592 §2.2.2), from the deepest up. */
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
      if (name.sets.has(TYPE.DNAME) && name.children > 0) return false; // there are untouched names below the DNAME
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

  /** The zone's new root, not yet published. Throws ImageFullError. */
  write(content: ZoneContent): number {
    const { apex } = this.#served;
    const { id, version, mark } = content;
    const root = { ...this.#served, id, version, mark, unproven: this.#unproven };
    for (const name of this.#touched.values()) {
      if (name.before !== undefined) count(root, name.before, -1);
      if (!exists(name) && name.name !== apex) continue;
      count(root, name, 1);
      name.newNode = writeNode(this.#image, this.#space, apex, name);
    }
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

  /** Retires the blocks of the version before that the new one does not share. */
  retire(): void {
    for (const { oldNode } of this.#touched.values()) {
      if (oldNode !== 0) this.#space.retire(oldNode, unitsOfNode(this.#image, oldNode));
    }
    for (const ref of this.#oldBuckets) this.#space.retire(ref, unitsOfBucket(this.#image, ref));
    this.#space.retire(this.#root, unitsOfRoot(this.#image, this.#root));
  }
}

function exists({ sets, children, marked }: NodeContent): boolean {
  return sets.size > 0 || children > 0 || marked;
}

/** Adds a name to the sums of a root, or takes it out of them. */
function count(root: Writable<RootContent>, { name, sets }: NodeContent, sign: 1 | -1): void {
  for (const set of sets.values()) root.records += sign * recordsOfSet(set);
  root.names += sign;
  if (sets.has(TYPE.NS) && name !== root.apex) root.cuts += sign;
  if (sets.has(TYPE.DNAME)) root.dnames += sign;
  if (isWildcard(name)) root.wildcards += sign;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** The records of the zone at this root with changes made to them. */
export function* recordsAfter(image: Image, root: number, changes: ZoneChanges): Generator<ZoneRecord> {
  const { apex, unproven } = readRoot(image, root);
  const touched = new Map<Name, Set<number>>();
  for (const { owner, type } of [...changes.gone, ...changes.records]) {
    const types = touched.get(owner);
    if (types === undefined) touched.set(owner, new Set([type]));
    else types.add(type);
  }
  const nodes: number[] = [];
  forEachName(image, root, (_, node) => {
    nodes.push(node);
  });
  for (const node of nodes) {
    const { name, sets, marked } = readNode(image, node, apex);
    const types = touched.get(name);
    for (const { owner, type, ttl, rdata } of sets.values()) {
      if (types?.has(type)) continue;
      for (const one of rdata) yield { owner, type, ttl, rdata: one };
    }
    if (marked && !types?.has(MARK_TYPE)) yield markOf(name);
  }
  if (unproven && !touched.get(apex)?.has(MARK_TYPE)) yield unprovenMarkOf(apex);
  yield* changes.records;
}
