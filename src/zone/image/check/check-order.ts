// Whether an order index that was read from a file is as layout.ts says: its blocks lie inside, its items stand in canonical
// order with the keys of their owners, and each leads to a node that may stand there.

import type { Name } from '../../../dns/name.ts';
import type { Image } from '../image.ts';
import { ORDER, ORDER_ITEM, ORDER_ITEM_WORDS, wordOf } from '../layout.ts';
import { keyWordsOf } from '../order-index.ts';
import { ownerOfNode } from '../read-node.ts';

/** What the check of the whole image does: each throws when it finds a fault. */
export interface CheckedBlocks {
  demand(isSound: boolean, what: string): void;
  /** The words at the start of a block lie inside. */
  enter(ref: number, words: number): Int32Array;
  /** Marks a block of so many words as used. */
  takeFor(ref: number, words: number): void;
  /** Checks that a node may stand in the index; then it can be read. */
  checkItem(node: number): void;
}

/** Returns how many items the index has. */
export function checkOrder(image: Image, order: number, apex: Name, blocks: CheckedBlocks): number {
  if (order === 0) return 0;
  const state: OrderState = { image, apex, blocks, items: 0, before: undefined };
  const words = blocks.enter(order, ORDER.ITEMS);
  if (((words[wordOf(order)] as number) & 1) === 0) return checkLeaf(state, order);
  const { items, at } = enterItems(blocks, order, 1);
  blocks.demand(items > 1, 'an order index has an impossible top');
  for (let item = 0; item < items; item++) {
    const itemAt = at + item * ORDER_ITEM_WORDS;
    const leaf = words[itemAt + ORDER_ITEM.REF] as number;
    checkLeaf(state, leaf);
    const leafWords = blocks.enter(leaf, ORDER.ITEMS + ORDER_ITEM_WORDS);
    for (const word of [ORDER_ITEM.HIGH, ORDER_ITEM.LOW]) {
      const isSame = words[itemAt + word] === leafWords[wordOf(leaf) + ORDER.ITEMS + word];
      blocks.demand(isSame, 'an order index has another key');
    }
  }
  return state.items;
}

interface OrderState {
  readonly image: Image;
  readonly apex: Name;
  readonly blocks: CheckedBlocks;
  items: number;
  before: string | undefined;
}

function checkLeaf(state: OrderState, leaf: number): number {
  const { image, apex, blocks } = state;
  const { items, at, words } = enterItems(blocks, leaf, 0);
  for (let item = at; item < at + items * ORDER_ITEM_WORDS; item += ORDER_ITEM_WORDS) {
    const node = words[item + ORDER_ITEM.REF] as number;
    blocks.checkItem(node);
    const { key, high, low } = keyWordsOf(ownerOfNode(image, node, apex), apex);
    blocks.demand(state.before === undefined || state.before < key, 'an order index is out of order');
    const isSame = words[item + ORDER_ITEM.HIGH] === high && words[item + ORDER_ITEM.LOW] === low;
    blocks.demand(isSame, 'an order index has another key');
    state.before = key;
    state.items++;
  }
  return state.items;
}

function enterItems(
  blocks: CheckedBlocks,
  ref: number,
  isTop: 0 | 1,
): { items: number; at: number; words: Int32Array } {
  const shape = blocks.enter(ref, ORDER.ITEMS)[wordOf(ref) + ORDER.SHAPE] as number;
  const items = shape >>> 1;
  blocks.demand(
    (shape & 1) === isTop && items > 0 && items < MAX_ITEMS,
    'an order index has an impossible block',
  );
  const length = ORDER.ITEMS + items * ORDER_ITEM_WORDS;
  const words = blocks.enter(ref, length);
  blocks.takeFor(ref, length);
  return { items, at: wordOf(ref) + ORDER.ITEMS, words };
}

/** Keeps sums of words within integers. */
const MAX_ITEMS = 2 ** 26;
