// The only writer of an image: puts zones in, takes them out, keeps the counts. A change is published whole or, when it
// does not fit, not at all: then ImageFullError is thrown and everything is served as before.

import { sortNames } from '../../dns/dnssec/sort-names.ts';
import { isWildcard, type Name, parentOf, printName, wildcardBelow } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { buildZone } from '../../zone/build-zone.ts';
import type { EdgeSets } from '../../zone/edge-sets.ts';
import type { RecordSet, Zone } from '../../zone/zone.ts';
import type { ZoneProblem } from '../../zone/zone-problem.ts';
import { unitsOfEdgeSets, writeEdgeSets } from './edge-block.ts';
import { type ZoneChanges, ZoneEdit } from './edit-zone.ts';
import { hashName } from './hash-name.ts';
import type { Image } from './image.ts';
import { HEADER } from './layout.ts';
import { forEachBucket, forEachName, IndexedNames, unitsOfBucket, writeIndex } from './name-index.ts';
import { blocksOf, forEachOrdered, unitsOfOrderBlock, writeOrder } from './order-index.ts';
import { recordsAfter } from './records-after.ts';
import { ImageFullError, Space } from './space.ts';
import { hashedNode, unitsOfNode, writeNode } from './write-node.ts';
import {
  isServedRoot,
  isUnprovenRoot,
  log2BucketsFor,
  NO_ORDER,
  readRoot,
  recordsOfRoot,
  unitsOfRoot,
  writeRoot,
  type ZoneContent,
  type ZoneOrder,
} from './zone-root.ts';
import { findRoot, rootsOf, rootsWithHash, ZoneTable } from './zone-table.ts';

type EditedZone =
  | { readonly kind: 'edited' }
  | { readonly kind: 'refused'; readonly problems: readonly ZoneProblem[] };

interface ZoneEntry extends ZoneContent {
  readonly apex: Name;
  readonly records: number;
}

/** The part of the image that is reserved for marking zones that have no room. */
const RESERVED_PART = 1 / 64;
const MANY_RECORDS = 1000;
/** Of a zone whose root takes a large block. */
const MANY_NAMES = 1000;
const LEAST_UNITS_OF_NAME = 4;
/** A mask that gives 0 once in 256 names. */
const NAMES_A_STEP = 255;

export class ImageWriter {
  readonly image: Image;
  readonly #space: Space;
  readonly #table: ZoneTable;
  readonly #names = new IndexedNames();
  /** Told often while one zone is written. */
  readonly onStep: () => void;

  /** `free` is what `exportFree` gave for the content that was read into the image; a fresh image has none. */
  constructor(image: Image, free?: Int32Array, onStep: () => void = () => undefined) {
    this.image = image;
    this.onStep = onStep;
    const reserve = Math.floor((image.header[HEADER.CAPACITY] as number) * RESERVED_PART);
    this.#space = new Space(image, free, reserve);
    this.#table = new ZoneTable(image, this.#space);
  }

  get zones(): number {
    return this.image.zones;
  }

  get records(): number {
    return this.image.records;
  }

  get bytesUsed(): number {
    return this.image.bytesUsed;
  }

  /** Publishes the zone, in place of the one with its apex. */
  put(zone: Zone, content: ZoneContent): void {
    this.#change(() => {
      if (findRoot(this.image, zone.apex) === 0) this.#table.makeRoom();
      const old = this.#publish(zone.apex, this.#writeZone(zone, content));
      if (old !== 0) this.#retireZone(old);
    });
  }

  /**
   * Changes record sets of a zone that is served; the result is judged as the whole zone would be. The cost does not
   * grow with the zone, except for a copy of its root, unless the change is refused, a DNAME is added above other
   * names, or most of the zone is new: then the zone is built anew, which takes a third of the time.
   */
  edit(apex: Name, content: ZoneContent, changes: ZoneChanges): EditedZone {
    const root = this.rootOf(apex);
    if (root === 0) throw new RangeError(`${printName(apex)} is not served: there is nothing to edit`);
    const edit = new ZoneEdit(this.image, this.#space, root);
    const isMostlyNew = changes.records.length > Math.max(MANY_RECORDS, recordsOfRoot(this.image, root));
    if (isMostlyNew || !edit.apply(changes)) {
      const built = buildZone(apex, recordsAfter(this.image, root, changes), this.onStep);
      if (built.kind === 'refused') return built;
      this.put(built.zone, content);
      return { kind: 'edited' };
    }
    this.#change(() => {
      this.#publish(apex, edit.write(content));
      edit.retire();
    });
    return { kind: 'edited' };
  }

  remove(apex: Name): void {
    this.#change(() => {
      const root = this.#table.remove(apex);
      if (root === 0) return;
      if (isServedRoot(this.image, root)) this.#count(-1, -recordsOfRoot(this.image, root));
      this.#retireZone(root);
    });
  }

  /**
   * Marks a zone as ours and not served, until it is put or removed. False: the zone is served, or there is no room
   * even for the mark.
   */
  markNotServed(apex: Name, content: ZoneContent): boolean {
    if (this.rootOf(apex) !== 0) return false;
    const { header } = this.image;
    const wasFull = header[HEADER.FULL] as number;
    try {
      this.#change(() => this.#space.fromReserve(() => this.#publishNotServed(apex, content)));
      return true;
    } catch (error) {
      if (error instanceof ImageFullError) return false;
      throw error;
    } finally {
      header[HEADER.FULL] = wasFull;
    }
  }

  #publishNotServed(apex: Name, { id, version, mark }: ZoneContent): void {
    if (findRoot(this.image, apex) === 0) this.#table.makeRoom();
    const nothing = {
      apexNode: 0,
      serial: 0,
      negativeTtl: 0,
      records: 0,
      names: 0,
      cuts: 0,
      dnames: 0,
      wildcards: 0,
      ...NO_ORDER,
    };
    const root = { id, version, mark, apex, ...nothing, apexOnly: false, unproven: false, isServed: false };
    const ref = writeRoot(this.image, this.#space, root, 0);
    this.#names.clear();
    writeIndex(this.image, this.#space, ref, this.#names);
    const old = this.#publish(apex, ref);
    if (old !== 0) this.#retireZone(old);
  }

  /** The ref of the zone's root, 0 when it is not served. The next change of the zone gives it another one. */
  rootOf(apex: Name): number {
    const root = findRoot(this.image, apex);
    return root !== 0 && isServedRoot(this.image, root) ? root : 0;
  }

  zoneAt(root: number): ZoneEntry {
    return readRoot(this.image, root);
  }

  contentOf(apex: Name): ZoneContent | undefined {
    const root = this.rootOf(apex);
    return root === 0 ? undefined : readRoot(this.image, root);
  }

  *entries(): Generator<ZoneEntry> {
    for (const root of rootsOf(this.image)) {
      if (isServedRoot(this.image, root)) yield readRoot(this.image, root);
    }
  }

  /** Zones that are ours and not served. */
  *notServed(): Generator<ZoneEntry> {
    for (const root of rootsOf(this.image)) {
      if (!isServedRoot(this.image, root)) yield readRoot(this.image, root);
    }
  }

  /** The ids of the zones that nothing has proved and whose apex has this hash: one, but for chance. */
  *unprovenIds(apexHash: number): Generator<number> {
    for (const root of rootsWithHash(this.image, apexHash)) {
      if (isUnprovenRoot(this.image, root)) yield readRoot(this.image, root).id;
    }
  }

  /** Replaces the sets of regions. They take room like a zone: without any, names publish their own. */
  putEdgeSets(sets: EdgeSets): void {
    this.#change(() => {
      const { header } = this.image;
      const old = header[HEADER.EDGE_SETS] as number;
      let ref = 0;
      if (sets.regions.length > 0)
        this.#space.fromReserve(() => {
          ref = writeEdgeSets(this.image, this.#space, sets);
        });
      Atomics.store(header, HEADER.EDGE_SETS, ref);
      this.#space.keep();
      if (old !== 0) this.#space.retire(old, unitsOfEdgeSets(this.image, old));
    });
  }

  reclaim(): void {
    this.#space.reclaim();
  }

  /** Until `resumeReuse`, every block that is served now keeps its bytes. */
  pauseReuse(): void {
    this.#space.pauseReuse();
  }

  resumeReuse(): void {
    this.#space.resumeReuse();
  }

  exportFree(): Int32Array {
    return this.#space.exportFree();
  }

  /** Where the zone table lies: with the header all that changes in place. */
  get tableRange(): { readonly bytesAt: number; readonly bytes: number } {
    return this.#table.range;
  }

  #change(make: () => void): void {
    try {
      make();
      this.image.header[HEADER.FULL] = 0;
    } catch (error) {
      this.#space.takeBack();
      if (error instanceof ImageFullError) this.image.header[HEADER.FULL] = 1;
      throw error;
    } finally {
      this.#space.reclaim();
    }
  }

  /** Returns the root that was served before, or 0. */
  #publish(apex: Name, root: number): number {
    const old = this.#table.publish(apex, root);
    this.#space.keep();
    const records = recordsOfRoot(this.image, root);
    const zones = isServedRoot(this.image, root) ? 1 : 0;
    if (old === 0) this.#count(zones, records);
    else {
      const before = isServedRoot(this.image, old) ? 1 : 0;
      this.#count(zones - before, records - recordsOfRoot(this.image, old));
    }
    return old;
  }

  /** The new root of a zone, all of it new. */
  #writeZone(zone: Zone, content: ZoneContent): number {
    const { apex, nodes } = zone;
    if (nodes.size > MANY_NAMES) this.#space.tidy(nodes.size * LEAST_UNITS_OF_NAME);
    const children = childrenOf(zone);
    let apexNode = 0;
    let cuts = 0;
    let dnames = 0;
    let wildcards = 0;
    for (const name of nodes.keys()) if (isWildcard(name)) wildcards++;
    const names = this.#names;
    names.clear();
    const denying = zone.denials?.kind === 'nsec' ? new Map<Name, number>() : undefined;
    for (const { name, sets } of nodes.values()) {
      const below = children.get(name) ?? 0;
      const wildcard = wildcards > 0 && below > 0 ? wildcardBelow(name) : undefined;
      const hasWildcardChild = wildcard !== undefined && nodes.has(wildcard);
      const marked = zone.marked.has(name);
      const node = { name, sets, children: below, hasWildcardChild, marked };
      const ref = writeNode(this.image, this.#space, apex, node);
      names.add(hashName(this.image.header, name), ref);
      if ((names.length & NAMES_A_STEP) === 0) this.onStep();
      if (name === apex) apexNode = ref;
      if (name !== apex && sets.has(TYPE.NS)) cuts++;
      if (sets.has(TYPE.DNAME)) dnames++;
      if (sets.has(TYPE.NSEC)) denying?.set(name, ref);
    }
    const { serial, negativeTtl, unproven, records } = zone;
    const { id, version, mark } = content;
    const counts = { records, names: nodes.size, cuts, dnames, wildcards };
    const apexOnly = zone.marked.has(apex);
    const flags = { apexOnly, unproven, isServed: true };
    const order = this.#writeDenials(zone, denying);
    const root = { id, version, mark, apex, apexNode, serial, negativeTtl, ...flags, ...counts, ...order };
    const ref = writeRoot(this.image, this.#space, root, log2BucketsFor(nodes.size));
    writeIndex(this.image, this.#space, ref, names);
    return ref;
  }

  /** Writes the order indexes of a zone; `denying` has the nodes with NSEC. */
  #writeDenials(
    { apex, denials, idleDenials }: Zone,
    denying: ReadonlyMap<Name, number> | undefined,
  ): ZoneOrder {
    if (denials === undefined && idleDenials === undefined) return NO_ORDER;
    const idle = new Map(idleDenials?.map((set) => [set.owner, set]));
    const idleSets = sortNames(idle.keys()).map((owner) => idle.get(owner) as RecordSet);
    const owners = denials?.kind === 'nsec' ? denials.owners : [];
    const proving =
      denials?.kind === 'nsec3'
        ? this.#writeHashed(
            apex,
            denials.entries.map(({ set }) => set),
          )
        : owners.map((name) => ({ name, node: denying?.get(name) as number }));
    return {
      signed: denials !== undefined,
      denials: writeOrder(this.image, this.#space, apex, proving),
      idleDenials: writeOrder(this.image, this.#space, apex, this.#writeHashed(apex, idleSets)),
      isHashed: denials?.kind === 'nsec3',
    };
  }

  #writeHashed(apex: Name, sets: readonly RecordSet[]): { name: Name; node: number }[] {
    return sets.map((set, index) => {
      if ((index & NAMES_A_STEP) === 0) this.onStep();
      return { name: set.owner, node: writeNode(this.image, this.#space, apex, hashedNode(set)) };
    });
  }

  #retireZone(root: number): void {
    const { image } = this;
    forEachName(image, root, (_, node) => this.#space.retire(node, unitsOfNode(image, node)));
    forEachBucket(image, root, (ref) => this.#space.retire(ref, unitsOfBucket(image, ref)));
    const { denials, idleDenials, isHashed } = readRoot(image, root);
    const hashed = [idleDenials, ...(isHashed ? [denials] : [])];
    for (const order of hashed)
      forEachOrdered(image, order, (node) => this.#space.retire(node, unitsOfNode(image, node)));
    for (const order of [denials, idleDenials])
      for (const ref of blocksOf(image, order)) this.#space.retire(ref, unitsOfOrderBlock(image, ref));
    this.#space.retire(root, unitsOfRoot(image, root));
  }

  #count(zones: number, records: number): void {
    const { header } = this.image;
    header[HEADER.ZONES] = (header[HEADER.ZONES] as number) + zones;
    header[HEADER.RECORDS] = (header[HEADER.RECORDS] as number) + records;
  }
}

/** How many names of the zone lie right below each. */
function childrenOf({ apex, nodes }: Zone): Map<Name, number> {
  const children = new Map<Name, number>();
  for (const name of nodes.keys()) {
    if (name === apex) continue;
    const parent = parentOf(name);
    children.set(parent, (children.get(parent) ?? 0) + 1);
  }
  return children;
}
