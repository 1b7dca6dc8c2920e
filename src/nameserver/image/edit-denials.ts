// The part of an edit that affects NSEC3 sets, whose owners are not names of the zone, and the order indexes.

import type { Name } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { type DenialStyle, hashIn } from '../../zone/find-denials.ts';
import type { RecordSet } from '../../zone/zone.ts';
import type { Image } from './image.ts';
import { changeOrder, findOrdered, type OrderChange, unitsOfOrderBlock } from './order-index.ts';
import { viewNode } from './read-node.ts';
import type { Space } from './space.ts';
import { recordsOfSet, signaturesOfSet } from './stored-set.ts';
import { hashedNode, unitsOfNode, writeNode } from './write-node.ts';
import type { RootContent, ZoneOrder } from './zone-root.ts';

/** The owner of an NSEC3 set that an edit touches. */
interface HashedOwner {
  readonly owner: Name;
  /** The served node, and whether it is one of those that prove denials; 0 if there is none. */
  readonly oldNode: number;
  readonly wasProving: boolean;
  readonly before: RecordSet | undefined;
  set: RecordSet | undefined;
}

export class DenialEdit {
  readonly #image: Image;
  readonly #space: Space;
  readonly #served: RootContent;
  readonly #owners = new Map<Name, HashedOwner>();
  #retired: { readonly nodes: number[]; readonly blocks: number[] } = { nodes: [], blocks: [] };

  constructor(image: Image, space: Space, served: RootContent) {
    this.#image = image;
    this.#space = space;
    this.#served = served;
  }

  /** Returns the NSEC3 set of an owner before the edit and in its current state. */
  touch(owner: Name): HashedOwner {
    const known = this.#owners.get(owner);
    if (known !== undefined) return known;
    const { apex, denials, idleDenials, isHashed } = this.#served;
    const proving = isHashed ? findOrdered(this.#image, denials, apex, owner) : 0;
    const oldNode = proving || findOrdered(this.#image, idleDenials, apex, owner);
    const before = oldNode === 0 ? undefined : viewNode(this.#image, oldNode, apex).sets.get(TYPE.NSEC3);
    const touched = { owner, oldNode, wasProving: proving !== 0, before, set: before };
    this.#owners.set(owner, touched);
    return touched;
  }

  get owners(): Iterable<HashedOwner> {
    return this.#owners.values();
  }

  /** The number of records added (negative if removed). */
  get moreRecords(): number {
    let more = 0;
    for (const { before, set } of this.#owners.values()) more += recordsOf(set) - recordsOf(before);
    return more;
  }

  /** Writes the new sets and the order indexes. `names` lists the changed names with NSEC. */
  write(style: DenialStyle, names: readonly OrderChange[]): ZoneOrder {
    const { apex, denials, idleDenials } = this.#served;
    const proving: OrderChange[] = style === 'nsec' ? [...names] : [];
    const idle: OrderChange[] = [];
    for (const { owner, oldNode, wasProving, set } of this.#owners.values()) {
      const newNode = set === undefined ? 0 : writeNode(this.#image, this.#space, apex, hashedNode(set));
      const isProving =
        set !== undefined && typeof style === 'object' && hashIn(set, style, apex) !== undefined;
      const before = { name: owner, oldNode };
      if (oldNode !== 0) this.#retired.nodes.push(oldNode);
      if (wasProving === isProving) (isProving ? proving : idle).push({ ...before, newNode });
      else {
        (wasProving ? proving : idle).push({ ...before, newNode: 0 });
        (isProving ? proving : idle).push({ name: owner, oldNode: 0, newNode });
      }
    }
    return {
      signed: style !== 'none',
      denials: this.#change(denials, proving),
      idleDenials: this.#change(idleDenials, idle),
      isHashed: typeof style === 'object',
    };
  }

  #change(order: number, changes: readonly OrderChange[]): number {
    const changed = changeOrder(this.#image, this.#space, this.#served.apex, order, changes);
    this.#retired.blocks.push(...changed.replaced);
    return changed.order;
  }

  /** Retires the blocks of the previous version that the new one does not share. */
  retire(): void {
    for (const ref of this.#retired.nodes) this.#space.retire(ref, unitsOfNode(this.#image, ref));
    for (const ref of this.#retired.blocks) this.#space.retire(ref, unitsOfOrderBlock(this.#image, ref));
  }
}

function recordsOf(set: RecordSet | undefined): number {
  return set === undefined ? 0 : recordsOfSet(set) + signaturesOfSet(set);
}
