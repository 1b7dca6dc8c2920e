// Checks an order index read from a file (layout.ts): its blocks lie inside, its items are in canonical order with the
// keys of their owners, and each refers to a node that may be in the index.

import { canonicalKey, fillKeyStart } from '../../../dns/dnssec/canonical-key.ts';
import type { Name } from '../../../dns/name.ts';
import type { Image } from '../image.ts';
import {
  byteOf,
  NODE,
  ORDER,
  ORDER_ITEM,
  ORDER_ITEM_WORDS,
  segmentOf,
  setWordsOf,
  wordOf,
} from '../layout.ts';
import { ownerOfNode } from '../read-node.ts';
import { demand } from './demand.ts';
import type { TakenSpace } from './taken-space.ts';

/** `checkItem` verifies that a node may be in the index. Only then is the node read. */
interface CheckedOrder {
  readonly image: Image;
  readonly apex: Name;
  readonly space: TakenSpace;
  readonly checkItem: (node: number) => void;
}

/** Returns the number of items in the index. */
export function checkOrder(checked: CheckedOrder, order: number): number {
  if (order === 0) return 0;
  const { space } = checked;
  const state: OrderState = { ...checked, items: 0, before: 0, high: 0, low: 0 };
  const words = space.enter(order, ORDER.ITEMS);
  if (((words[wordOf(order)] as number) & 1) === 0) return checkLeaf(state, order);
  const { items, at } = enterItems(space, order, 1);
  demand(items > 1, 'an order index has an invalid top');
  for (let item = 0; item < items; item++) {
    const itemAt = at + item * ORDER_ITEM_WORDS;
    const leaf = words[itemAt + ORDER_ITEM.REF] as number;
    checkLeaf(state, leaf);
    const leafWords = space.enter(leaf, ORDER.ITEMS + ORDER_ITEM_WORDS);
    for (const word of [ORDER_ITEM.HIGH, ORDER_ITEM.LOW]) {
      const isSame = words[itemAt + word] === leafWords[wordOf(leaf) + ORDER.ITEMS + word];
      demand(isSame, 'an order index has a wrong key');
    }
  }
  return state.items;
}

interface OrderState extends CheckedOrder {
  items: number;
  /** The previous node, and the words of its key; 0 if there is none. */
  before: number;
  high: number;
  low: number;
}

function checkLeaf(state: OrderState, leaf: number): number {
  const { image, space, checkItem } = state;
  const { items, at, words } = enterItems(space, leaf, 0);
  for (let item = at; item < at + items * ORDER_ITEM_WORDS; item += ORDER_ITEM_WORDS) {
    const node = words[item + ORDER_ITEM.REF] as number;
    checkItem(node);
    readOwner(image, node);
    fillKeyStart(owner, 0, 0, false, keyWords);
    const high = (keyWords[0] as number) ^ TURNED;
    const low = (keyWords[1] as number) ^ TURNED;
    const isSame = words[item + ORDER_ITEM.HIGH] === high && words[item + ORDER_ITEM.LOW] === low;
    demand(isSame, 'an order index has a wrong key');
    demand(state.before === 0 || isBehind(state, node, high, low), 'an order index is out of order');
    state.before = node;
    state.high = high;
    state.low = low;
    state.items++;
  }
  return state.items;
}

/**
 * Returns true if a node follows the previous one. Compares the starts of their keys and, if these are equal, the whole keys.
 */
function isBehind(
  { image, apex, before, high, low }: OrderState,
  node: number,
  nextHigh: number,
  nextLow: number,
): boolean {
  if (nextHigh !== high) return nextHigh > high;
  if (nextLow !== low) return nextLow > low;
  const keyOf = (ref: number) => canonicalKey(ownerOfNode(image, ref, apex), apex);
  return keyOf(before) < keyOf(node);
}

/** The highest bit, which is inverted in the key words of items. */
const TURNED = 0x80000000;
const MAX_NAME_OCTETS = 255;
/** The owner of the checked node, without the apex, and the start of its key. */
const owner = {
  octets: new Uint8Array(MAX_NAME_OCTETS),
  labelAt: new Uint8Array(MAX_NAME_OCTETS),
  labels: 0,
};
const keyWords = new Uint32Array(2);

function readOwner(image: Image, node: number): void {
  const shape = (image.words[segmentOf(node)] as Int32Array)[wordOf(node) + NODE.SHAPE] as number;
  const bytes = image.bytes[segmentOf(node)] as Uint8Array;
  const from = byteOf(node) + (NODE.SETS + (shape >>> 16) * setWordsOf(shape)) * 4;
  const octets = (shape >>> 8) & 0xff;
  for (let i = 0; i < octets; i++) owner.octets[i] = bytes[from + i] as number;
  owner.labels = 0;
  for (let at = 0; at < octets; at += (owner.octets[at] as number) + 1) owner.labelAt[owner.labels++] = at;
}

function enterItems(
  space: TakenSpace,
  ref: number,
  isTop: 0 | 1,
): { items: number; at: number; words: Int32Array } {
  const shape = space.enter(ref, ORDER.ITEMS)[wordOf(ref) + ORDER.SHAPE] as number;
  const items = shape >>> 1;
  demand((shape & 1) === isTop && items > 0 && items < MAX_ITEMS, 'an order index has an invalid block');
  const length = ORDER.ITEMS + items * ORDER_ITEM_WORDS;
  const words = space.enter(ref, length);
  space.takeWords(ref, length);
  return { items, at: wordOf(ref) + ORDER.ITEMS, words };
}

/** Keeps sums of words within the integer range. */
const MAX_ITEMS = 2 ** 26;
