// The table of zones by apex, from the view of its only writer (layout.ts has the rules for readers).

import { labelCount, type Name } from '../../dns/name.ts';
import { hashName } from './hash-name.ts';
import type { Image } from './image.ts';
import {
  HEADER,
  MAX_LOG2_CAPACITY,
  MIN_LOG2_CAPACITY,
  REMOVED,
  segmentOf,
  TABLE,
  TABLE_SLOT_WORDS,
  UNIT_BYTES,
  unitsForTable,
  wordOf,
} from './layout.ts';
import { ImageFullError, type Space } from './space.ts';
import { hasApex } from './zone-root.ts';

const MAX_LOAD = 0.6;
/** Load of a new table. */
const LOAD_AFTER_GROWTH = 0.4;

/** The words of a table, and the position of its slots in them. */
interface Slots {
  readonly words: Int32Array;
  readonly at: number;
  readonly log2: number;
}

function slotsOf(image: Image, table: number): Slots {
  const words = image.words[segmentOf(table)] as Int32Array;
  const at = wordOf(table);
  return { words, at: at + TABLE.SLOTS, log2: words[at + TABLE.LOG2_CAPACITY] as number };
}

/** Returns the ref of the root of the zone with exactly this apex, or 0. */
export function findRoot(image: Image, apex: Name): number {
  const slots = slotsOf(image, Atomics.load(image.header, HEADER.ZONE_TABLE));
  return findSlot(image, slots, apex, hashName(image.header, apex))?.root ?? 0;
}

/**
 * Returns the first word of the zone's slot, and the root that was in it. A reader may find another root there a moment later.
 */
function findSlot(
  image: Image,
  { words, at, log2 }: Slots,
  apex: Name,
  hash: number,
): { readonly pair: number; readonly root: number } | undefined {
  const mask = (1 << log2) - 1;
  for (let slot = hash >>> (32 - log2); ; slot = (slot + 1) & mask) {
    const pair = at + slot * TABLE_SLOT_WORDS;
    const root = Atomics.load(words, pair + 1);
    if (root === 0) return undefined;
    if (words[pair] === hash && root !== REMOVED && hasApex(image, root, apex)) return { pair, root };
  }
}

export function* rootsOf(image: Image): Generator<number> {
  const { words, at, log2 } = slotsOf(image, Atomics.load(image.header, HEADER.ZONE_TABLE));
  const end = at + (TABLE_SLOT_WORDS << log2);
  for (let pair = at; pair < end; pair += TABLE_SLOT_WORDS) {
    const root = Atomics.load(words, pair + 1);
    if (root > 0) yield root;
  }
}

/** Yields the roots of the zones whose apex has this hash. */
export function* rootsWithHash(image: Image, hash: number): Generator<number> {
  const { words, at, log2 } = slotsOf(image, Atomics.load(image.header, HEADER.ZONE_TABLE));
  const mask = (1 << log2) - 1;
  for (let slot = hash >>> (32 - log2); ; slot = (slot + 1) & mask) {
    const pair = at + slot * TABLE_SLOT_WORDS;
    const root = Atomics.load(words, pair + 1);
    if (root === 0) return;
    if (words[pair] === hash && root !== REMOVED) yield root;
  }
}

export class ZoneTable {
  readonly #image: Image;
  readonly #space: Space;

  constructor(image: Image, space: Space) {
    this.#image = image;
    this.#space = space;
  }

  get #ref(): number {
    return this.#image.header[HEADER.ZONE_TABLE] as number;
  }

  /** The range of the table in the buffer in bytes: everything after the header that changes in place. */
  get range(): { readonly bytesAt: number; readonly bytes: number } {
    const { log2 } = slotsOf(this.#image, this.#ref);
    return { bytesAt: this.#ref * UNIT_BYTES, bytes: unitsForTable(log2) * UNIT_BYTES };
  }

  /** Ensures that one more zone has a slot: a larger table replaces a full one. Throws ImageFullError. */
  makeRoom(): void {
    const { words, at, log2 } = slotsOf(this.#image, this.#ref);
    const taken = words[at - TABLE.SLOTS + TABLE.TAKEN] as number;
    if (taken < MAX_LOAD * 2 ** log2) return;
    let newLog2 = MIN_LOG2_CAPACITY;
    while (this.#image.zones + 1 > LOAD_AFTER_GROWTH * 2 ** newLog2) newLog2++;
    if (newLog2 > MAX_LOG2_CAPACITY) throw new ImageFullError(`an image holds at most ${taken} zones`);
    const ref = this.#space.allocate(unitsForTable(newLog2));
    const table = wordOf(ref);
    const slots = this.#image.words[segmentOf(ref)] as Int32Array;
    slots.fill(0, table, table + TABLE.SLOTS + (TABLE_SLOT_WORDS << newLog2));
    slots[table + TABLE.LOG2_CAPACITY] = newLog2;
    const grown = slotsOf(this.#image, ref);
    for (let pair = at; pair < at + (TABLE_SLOT_WORDS << log2); pair += TABLE_SLOT_WORDS) {
      const root = words[pair + 1] as number;
      if (root > 0) take(grown, words[pair] as number, root);
    }
    const old = this.#ref;
    Atomics.store(this.#image.header, HEADER.ZONE_TABLE, ref);
    this.#space.retire(old, unitsForTable(log2));
    this.#space.keep();
  }

  /** Publishes a root instead of the one with its apex, after `makeRoom`. Returns the previous root, or 0. */
  publish(apex: Name, root: number): number {
    const slots = slotsOf(this.#image, this.#ref);
    const hash = hashName(this.#image.header, apex);
    const served = findSlot(this.#image, slots, apex, hash);
    if (served !== undefined) {
      Atomics.store(slots.words, served.pair + 1, root);
      return served.root;
    }
    Atomics.or(this.#image.header, HEADER.APEX_DEPTHS, 1 << Math.min(labelCount(apex), 31));
    take(slots, hash, root);
    return 0;
  }

  /** Returns the root that was served, or 0. */
  remove(apex: Name): number {
    const slots = slotsOf(this.#image, this.#ref);
    const served = findSlot(this.#image, slots, apex, hashName(this.#image.header, apex));
    if (served === undefined) return 0;
    Atomics.store(slots.words, served.pair + 1, REMOVED);
    return served.root;
  }
}

/** Stores a zone in the first free slot of the search. */
function take({ words, at, log2 }: Slots, hash: number, root: number): void {
  const mask = (1 << log2) - 1;
  let slot = hash >>> (32 - log2);
  while ((words[at + slot * TABLE_SLOT_WORDS + 1] as number) > 0) slot = (slot + 1) & mask;
  const pair = at + slot * TABLE_SLOT_WORDS;
  if (words[pair + 1] === 0) {
    const taken = at - TABLE.SLOTS + TABLE.TAKEN;
    words[taken] = (words[taken] as number) + 1;
  }
  Atomics.store(words, pair, hash);
  Atomics.store(words, pair + 1, root);
}
