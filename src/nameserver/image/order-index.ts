// The order index of a zone (layout.ts "Order index"): written whole or with changes, and read by the writer.

import { type CanonicalKey, canonicalKey } from '../../dns/dnssec/canonical-key.ts';
import type { Name } from '../../dns/name.ts';
import type { Image } from './image.ts';
import {
  MAX_LEAF_ITEMS,
  MIN_LEAF_ITEMS,
  ORDER,
  ORDER_ITEM,
  ORDER_ITEM_WORDS,
  segmentOf,
  UNIT_BYTES,
  wordOf,
} from './layout.ts';
import { ownerOfNode } from './read-node.ts';
import type { Space } from './space.ts';

/** A node, or a leaf, with the start of its key. */
interface Item {
  readonly high: number;
  readonly low: number;
  readonly ref: number;
}

/** The node of an owner before and after a change; 0 if it does not exist. */
export interface OrderChange {
  readonly name: Name;
  readonly oldNode: number;
  readonly newNode: number;
}

/** A leaf that stays unchanged, or the items of a new one. */
type Leaf = { readonly ref: number } | { readonly ref: 0; readonly items: readonly Item[] };

/** Items per leaf of a new index, with space for more. */
const USUAL_LEAF_ITEMS = 48;

/** Writes the index of nodes in canonical order. Returns its ref, or 0 for no nodes. Throws ImageFullError. */
export function writeOrder(
  image: Image,
  space: Space,
  apex: Name,
  nodes: Iterable<{ readonly name: Name; readonly node: number }>,
): number {
  const items: Item[] = [];
  for (const { name, node } of nodes) items.push(itemOf(canonicalKey(name, apex), node));
  return writeLeaves(image, space, split(items, USUAL_LEAF_ITEMS));
}

/** Writes an index with changes. Also returns the blocks of the previous index that the new one does not share. */
export function changeOrder(
  image: Image,
  space: Space,
  apex: Name,
  order: number,
  changes: readonly OrderChange[],
): { order: number; replaced: number[] } {
  if (changes.length === 0) return { order, replaced: [] };
  const before = leavesOf(image, order);
  const ofLeaf = new Map<number, KeyedChange[]>();
  for (const change of changes) {
    const key = canonicalKey(change.name, apex);
    const index = Math.max(0, lastUpTo(image, apex, listed(before), key, firstNodeOf(image)));
    const group = ofLeaf.get(index);
    if (group === undefined) ofLeaf.set(index, [{ ...change, key }]);
    else group.push({ ...change, key });
  }
  const after: Leaf[] = before.map((leaf, index) => {
    const group = ofLeaf.get(index);
    return group === undefined
      ? leaf
      : { ref: 0, items: changed(image, apex, itemsOf(image, leaf.ref), group) };
  });
  if (before.length === 0) after.push({ ref: 0, items: changed(image, apex, [], ofLeaf.get(0) ?? []) });
  const leaves = evened(image, after);
  const kept = new Set(leaves.map(({ ref }) => ref));
  const replaced = blocksOf(image, order).filter((ref) => !kept.has(ref));
  return { order: writeLeaves(image, space, leaves), replaced };
}

interface KeyedChange extends OrderChange {
  readonly key: CanonicalKey;
}

function changed(image: Image, apex: Name, items: readonly Item[], changes: readonly KeyedChange[]): Item[] {
  const gone = new Set(changes.map(({ oldNode }) => oldNode));
  const list = items.filter(({ ref }) => !gone.has(ref));
  for (const { key, newNode } of changes) {
    if (newNode === 0) continue;
    list.splice(lastUpTo(image, apex, listed(list), key, sameNode) + 1, 0, itemOf(key, newNode));
  }
  return list;
}

/** Items of a list or of a block. */
interface ItemList {
  readonly length: number;
  at(index: number): Item;
}

function listed(items: readonly Item[]): ItemList {
  return { length: items.length, at: (index) => items[index] as Item };
}

function inBlock(image: Image, ref: number): ItemList {
  return { length: shapeOf(image, ref) >>> 1, at: (index) => itemAt(image, ref, index) };
}

const sameNode = (ref: number): number => ref;
const firstNodeOf =
  (image: Image) =>
  (leaf: number): number =>
    itemAt(image, leaf, 0).ref;

/** Returns the index of the last item at or before a key, or -1. `nodeOf` returns the node whose owner an item represents. */
function lastUpTo(
  image: Image,
  apex: Name,
  items: ItemList,
  key: CanonicalKey,
  nodeOf: (ref: number) => number,
): number {
  const { high, low } = itemOf(key, 0);
  let from = 0;
  let to = items.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    const item = items.at(middle);
    const isUpTo =
      item.high !== high
        ? item.high < high
        : item.low !== low
          ? item.low < low
          : canonicalKey(ownerOfNode(image, nodeOf(item.ref), apex), apex) <= key;
    if (isUpTo) from = middle + 1;
    else to = middle;
  }
  return from - 1;
}

/** Removes empty leaves, merges small ones with a neighbour, and splits large ones. */
function evened(image: Image, leaves: readonly Leaf[]): (Item | NewLeaf)[] {
  const even: (Item | NewLeaf)[] = [];
  let small: readonly Item[] = [];
  for (const leaf of leaves) {
    const isNew = leaf.ref === 0 && 'items' in leaf;
    if (!isNew && small.length === 0) {
      even.push({ ...itemAt(image, leaf.ref, 0), ref: leaf.ref });
      continue;
    }
    const items = [...small, ...(isNew ? leaf.items : itemsOf(image, leaf.ref))];
    small = items.length < MIN_LEAF_ITEMS ? items : [];
    if (small.length === 0) even.push(...split(items, MAX_LEAF_ITEMS));
  }
  const last = even.at(-1);
  if (small.length === 0) return even;
  if (last === undefined) return split(small, MAX_LEAF_ITEMS);
  const before = last.ref === 0 ? (last as NewLeaf).items : itemsOf(image, last.ref);
  return [...even.slice(0, -1), ...split([...before, ...small], MAX_LEAF_ITEMS)];
}

interface NewLeaf {
  readonly ref: 0;
  readonly items: readonly Item[];
}

/** Splits items into leaves of about the same size with at most `most` items. */
function split(items: readonly Item[], most: number): NewLeaf[] {
  const count = Math.ceil(items.length / most);
  return Array.from({ length: count }, (_, i) => ({
    ref: 0,
    items: items.slice(Math.floor((i * items.length) / count), Math.floor(((i + 1) * items.length) / count)),
  }));
}

/** Writes the new leaves and, if there is more than one leaf, the top. */
function writeLeaves(image: Image, space: Space, leaves: readonly (Item | NewLeaf)[]): number {
  const written = leaves.map((leaf): Item => {
    if (leaf.ref !== 0) return leaf as Item;
    const { items } = leaf as NewLeaf;
    return { ...(items[0] as Item), ref: writeItems(image, space, items, 0) };
  });
  if (written.length <= 1) return written[0]?.ref ?? 0;
  return writeItems(image, space, written, 1);
}

function writeItems(image: Image, space: Space, items: readonly Item[], isTop: 0 | 1): number {
  const ref = space.allocate(unitsForItems(items.length));
  const words = image.words[segmentOf(ref)] as Int32Array;
  let at = wordOf(ref);
  words[at + ORDER.SHAPE] = (items.length << 1) | isTop;
  at += ORDER.ITEMS;
  for (const { high, low, ref: node } of items) {
    words[at + ORDER_ITEM.HIGH] = high;
    words[at + ORDER_ITEM.LOW] = low;
    words[at + ORDER_ITEM.REF] = node;
    at += ORDER_ITEM_WORDS;
  }
  return ref;
}

function unitsForItems(items: number): number {
  return Math.ceil(((ORDER.ITEMS + items * ORDER_ITEM_WORDS) * 4) / UNIT_BYTES);
}

function itemOf(key: CanonicalKey, ref: number): Item {
  return { high: keyWord(key, 0), low: keyWord(key, 4), ref };
}

/** Returns four octets of a key with the highest bit inverted, so that they compare as signed words. */
function keyWord(key: CanonicalKey, at: number): number {
  let word = 0;
  for (let i = at; i < at + 4; i++) word = (word << 8) | (i < key.length ? key.charCodeAt(i) : 0);
  return word ^ 0x80000000;
}

function shapeOf(image: Image, ref: number): number {
  return (image.words[segmentOf(ref)] as Int32Array)[wordOf(ref) + ORDER.SHAPE] as number;
}

function itemAt(image: Image, block: number, index: number): Item {
  const words = image.words[segmentOf(block)] as Int32Array;
  const at = wordOf(block) + ORDER.ITEMS + index * ORDER_ITEM_WORDS;
  return {
    high: words[at + ORDER_ITEM.HIGH] as number,
    low: words[at + ORDER_ITEM.LOW] as number,
    ref: words[at + ORDER_ITEM.REF] as number,
  };
}

function itemsOf(image: Image, block: number): Item[] {
  return Array.from({ length: shapeOf(image, block) >>> 1 }, (_, index) => itemAt(image, block, index));
}

/** Returns each leaf with the key of its first item. */
function leavesOf(image: Image, order: number): Item[] {
  if (order === 0) return [];
  return (shapeOf(image, order) & 1) === 1
    ? itemsOf(image, order)
    : [{ ...itemAt(image, order, 0), ref: order }];
}

export function blocksOf(image: Image, order: number): number[] {
  if (order === 0) return [];
  const leaves = leavesOf(image, order).map(({ ref }) => ref);
  return (shapeOf(image, order) & 1) === 1 ? [order, ...leaves] : leaves;
}

export function unitsOfOrderBlock(image: Image, ref: number): number {
  return unitsForItems(shapeOf(image, ref) >>> 1);
}

/** Visits the nodes of an index in order. */
export function forEachOrdered(image: Image, order: number, visit: (node: number) => void): void {
  for (const leaf of leavesOf(image, order)) for (const { ref } of itemsOf(image, leaf.ref)) visit(ref);
}

/** Returns the node of an owner in an index, or 0. */
export function findOrdered(image: Image, order: number, apex: Name, name: Name): number {
  if (order === 0) return 0;
  const key = canonicalKey(name, apex);
  let leaf = order;
  if ((shapeOf(image, order) & 1) === 1) {
    const index = lastUpTo(image, apex, inBlock(image, order), key, firstNodeOf(image));
    if (index < 0) return 0;
    leaf = itemAt(image, order, index).ref;
  }
  const index = lastUpTo(image, apex, inBlock(image, leaf), key, sameNode);
  const node = index < 0 ? 0 : itemAt(image, leaf, index).ref;
  return node !== 0 && ownerOfNode(image, node, apex) === name ? node : 0;
}
