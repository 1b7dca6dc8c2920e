// Writes the blocks of a zone into an image, and releases them.

import { sortNames } from '../../dns/dnssec/sort-names.ts';
import { isWildcard, type Name, parentOf, wildcardBelow } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { RecordSet, Zone } from '../../zone/zone.ts';
import { hashName } from './hash-name.ts';
import type { Image } from './image.ts';
import { forEachBucket, forEachName, IndexedNames, unitsOfBucket, writeIndex } from './name-index.ts';
import { blocksOf, forEachOrdered, unitsOfOrderBlock, writeOrder } from './order-index.ts';
import type { Space } from './space.ts';
import { hashedNode, unitsOfNode, writeNode } from './write-node.ts';
import {
  log2BucketsFor,
  NO_ORDER,
  readRoot,
  unitsOfRoot,
  writeRoot,
  type ZoneContent,
  type ZoneOrder,
} from './zone-root.ts';

/** A zone with more names than this has a root that takes a large block. */
const MANY_NAMES = 1000;
const LEAST_UNITS_OF_NAME = 4;
/** A mask that is 0 for one name in 256. */
const NAMES_A_STEP = 255;

export class ZoneWriter {
  readonly #image: Image;
  readonly #space: Space;
  readonly #names = new IndexedNames();
  readonly #onStep: () => void;

  /** @param onStep called often */
  constructor(image: Image, space: Space, onStep: () => void) {
    this.#image = image;
    this.#space = space;
    this.#onStep = onStep;
  }

  /** Writes a whole zone, and returns its root. */
  write(zone: Zone, content: ZoneContent): number {
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
      const ref = writeNode(this.#image, this.#space, apex, node);
      names.add(hashName(this.#image.header, name), ref);
      if ((names.length & NAMES_A_STEP) === 0) this.#onStep();
      if (name === apex) apexNode = ref;
      if (name !== apex && sets.has(TYPE.NS)) cuts++;
      if (sets.has(TYPE.DNAME)) dnames++;
      if (sets.has(TYPE.NSEC)) denying?.set(name, ref);
    }
    const { serial, negativeTtl, unproven, expired, isPrivate, records } = zone;
    const { id, version, mark } = content;
    const counts = { records, names: nodes.size, cuts, dnames, wildcards };
    const apexOnly = zone.marked.has(apex);
    const flags = { apexOnly, unproven, expired, isPrivate, isServed: true };
    const order = this.#writeDenials(zone, denying);
    const root = { id, version, mark, apex, apexNode, serial, negativeTtl, ...flags, ...counts, ...order };
    const ref = writeRoot(this.#image, this.#space, root, log2BucketsFor(nodes.size));
    writeIndex(this.#image, this.#space, ref, names);
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
      denials: writeOrder(this.#image, this.#space, apex, proving),
      idleDenials: writeOrder(this.#image, this.#space, apex, this.#writeHashed(apex, idleSets)),
      isHashed: denials?.kind === 'nsec3',
    };
  }

  #writeHashed(apex: Name, sets: readonly RecordSet[]): { name: Name; node: number }[] {
    return sets.map((set, index) => {
      if ((index & NAMES_A_STEP) === 0) this.#onStep();
      return { name: set.owner, node: writeNode(this.#image, this.#space, apex, hashedNode(set)) };
    });
  }

  /** Writes the mark of a zone that is not served, and returns its root. */
  writeNotServed(apex: Name, { id, version, mark }: ZoneContent): number {
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
    const flags = { apexOnly: false, unproven: false, expired: false, isPrivate: false, isServed: false };
    const root = { id, version, mark, apex, ...nothing, ...flags };
    const ref = writeRoot(this.#image, this.#space, root, 0);
    this.#names.clear();
    writeIndex(this.#image, this.#space, ref, this.#names);
    return ref;
  }

  /** Releases all blocks of a zone that is no longer published. */
  retire(root: number): void {
    const image = this.#image;
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
}

/** Returns for each name of the zone the number of names directly below it. */
function childrenOf({ apex, nodes }: Zone): Map<Name, number> {
  const children = new Map<Name, number>();
  for (const name of nodes.keys()) {
    if (name === apex) continue;
    const parent = parentOf(name);
    children.set(parent, (children.get(parent) ?? 0) + 1);
  }
  return children;
}
