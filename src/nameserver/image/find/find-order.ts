// Finds the owners of denials in the order index of a zone (layout.ts "Order index"): the last one at or before a name.
// Uses only numbers and fixed buffers, so that no objects are allocated.

import { fillKeyStart, type LabelledName } from '../../../dns/dnssec/canonical-key.ts';
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

const MAX_LABELS = 128;
const WILDCARD = 0x2a;

export class OrderFinder {
  /** True if the owner found last is the name itself. */
  isMatch = false;
  readonly #words: readonly Int32Array[];
  readonly #bytes: readonly Uint8Array[];
  readonly #key = new Uint32Array(2);
  readonly #signedKey = new Int32Array(this.#key.buffer);
  /** Starts of the labels of a node's owner. */
  readonly #labelAt = new Uint8Array(MAX_LABELS);
  // The name being searched.
  #name: LabelledName | undefined = undefined;
  #from = 0;
  #isWildcard = false;
  #apexLabels = 0;
  #high = 0;
  #low = 0;

  constructor(image: Image) {
    this.#words = image.words;
    this.#bytes = image.bytes;
  }

  /**
   * Returns the node of the name that starts at label `from` of `name` (with `isWildcard`, of the wildcard below it), or
   * else of the last owner before it. Owners form a ring: the last one precedes the first. Returns 0 if the index is empty.
   */
  find(order: number, name: LabelledName, from: number, isWildcard: boolean, apexLabels: number): number {
    this.isMatch = false;
    if (order === 0) return 0;
    fillKeyStart(name, from, apexLabels, isWildcard, this.#key);
    this.#high = (this.#signedKey[0] as number) ^ 0x80000000;
    this.#low = (this.#signedKey[1] as number) ^ 0x80000000;
    this.#name = name;
    this.#from = from;
    this.#isWildcard = isWildcard;
    this.#apexLabels = apexLabels;
    let leaf = order;
    let isAfterAll = true;
    if ((this.#shapeOf(order) & 1) === 1) {
      let index = this.#lastUpTo(order, true);
      if (index < 0) {
        index = (this.#shapeOf(order) >>> 1) - 1;
        isAfterAll = false;
      }
      leaf = this.#refAt(order, index);
    }
    const index = isAfterAll ? this.#lastUpTo(leaf, false) : -1;
    return this.#refAt(leaf, index < 0 ? (this.#shapeOf(leaf) >>> 1) - 1 : index);
  }

  /** Returns the index of a block's last item at or before the name, or -1 if all items follow it. */
  #lastUpTo(block: number, isTop: boolean): number {
    const words = this.#words[segmentOf(block)] as Int32Array;
    const items = wordOf(block) + ORDER.ITEMS;
    const high = this.#high;
    const low = this.#low;
    let from = 0;
    let to = (words[wordOf(block) + ORDER.SHAPE] as number) >>> 1;
    while (from < to) {
      const middle = (from + to) >>> 1;
      const at = items + middle * ORDER_ITEM_WORDS;
      const itemHigh = words[at + ORDER_ITEM.HIGH] as number;
      const itemLow = words[at + ORDER_ITEM.LOW] as number;
      let isUpTo = itemHigh < high || (itemHigh === high && itemLow < low);
      if (itemHigh === high && itemLow === low) {
        const ref = words[at + ORDER_ITEM.REF] as number;
        const order = this.#compare(isTop ? this.#refAt(ref, 0) : ref);
        if (order === 0) this.isMatch = true;
        isUpTo = order <= 0;
      }
      if (isUpTo) from = middle + 1;
      else to = middle;
    }
    return from - 1;
  }

  #shapeOf(block: number): number {
    return (this.#words[segmentOf(block)] as Int32Array)[wordOf(block) + ORDER.SHAPE] as number;
  }

  #refAt(block: number, index: number): number {
    const at = wordOf(block) + ORDER.ITEMS + index * ORDER_ITEM_WORDS + ORDER_ITEM.REF;
    return (this.#words[segmentOf(block)] as Int32Array)[at] as number;
  }

  /** Returns a negative number if the node's owner precedes the name (RFC 4034 §6.1), and 0 if they are equal. */
  #compare(node: number): number {
    const shape = (this.#words[segmentOf(node)] as Int32Array)[wordOf(node) + NODE.SHAPE] as number;
    const owner = this.#bytes[segmentOf(node)] as Uint8Array;
    const ownerAt = byteOf(node) + (NODE.SETS + (shape >>> 16) * setWordsOf(shape)) * 4;
    const relative = (shape >>> 8) & 0xff;
    let label = 0;
    for (let at = 0; at < relative; at += (owner[ownerAt + at] as number) + 1) this.#labelAt[label++] = at;
    const { octets, labelAt, labels } = this.#name as LabelledName;
    let nameLabel = labels - this.#apexLabels;
    for (;;) {
      if (nameLabel === this.#from) break;
      if (label === 0) return -1;
      const at = labelAt[--nameLabel] as number;
      const order = compareLabels(owner, ownerAt + (this.#labelAt[--label] as number), octets, at);
      if (order !== 0) return order;
    }
    if (!this.#isWildcard) return label === 0 ? 0 : 1;
    if (label === 0) return -1;
    const at = ownerAt + (this.#labelAt[--label] as number);
    const length = owner[at] as number;
    if (owner[at + 1] !== WILDCARD) return (owner[at + 1] as number) < WILDCARD ? -1 : 1;
    return length > 1 || label > 0 ? 1 : 0;
  }
}

function compareLabels(one: Uint8Array, oneAt: number, other: Uint8Array, otherAt: number): number {
  const oneLength = one[oneAt] as number;
  const otherLength = other[otherAt] as number;
  const length = oneLength < otherLength ? oneLength : otherLength;
  for (let i = 1; i <= length; i++) {
    const difference = (one[oneAt + i] as number) - (other[otherAt + i] as number);
    if (difference !== 0) return difference;
  }
  return oneLength - otherLength;
}
