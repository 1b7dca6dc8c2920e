// Finds the nearest zone at or above a name in the zone table of an image. Uses plain loads, because Atomics.load takes
// some 10 ns. They are safe: the target of a ref is stored before the ref and read after it, and `ReaderSlot.enter`
// ensures that no load is older than the reader slot.

import type { Image } from '../image.ts';
import { HEADER, REMOVED, ROOT, segmentOf, TABLE, TABLE_SLOT_WORDS, wordOf } from '../layout.ts';
import type { FoldedName } from './folded-name.ts';

export class ZoneFinder {
  /** The label of the name at which the found zone's apex starts. */
  apexLabel = 0;
  readonly #header: Int32Array;
  readonly #words: readonly Int32Array[];

  constructor(image: Image) {
    this.#header = image.header;
    this.#words = image.words;
  }

  /** Returns the root of the zone whose apex is the longest suffix of `name` that starts at one of these labels, or 0. */
  find(name: FoldedName, from: number, to: number): number {
    const { rootAhead, apexLabelAhead } = name;
    const isAhead = rootAhead !== 0 && from === 0 && to === name.labels;
    if (isAhead && this.hasApex(rootAhead, name, apexLabelAhead)) {
      this.apexLabel = apexLabelAhead;
      return rootAhead;
    }
    const depths = this.#header[HEADER.APEX_DEPTHS] as number;
    const table = this.#header[HEADER.ZONE_TABLE] as number;
    const words = this.#words[segmentOf(table)] as Int32Array;
    const at = wordOf(table);
    const log2 = words[at + TABLE.LOG2_CAPACITY] as number;
    const slots = at + TABLE.SLOTS;
    const mask = (1 << log2) - 1;
    for (let label = from; label <= to; label++) {
      const depth = name.labels - label;
      if (((depths >>> (depth > 31 ? 31 : depth)) & 1) === 0) continue;
      const hash = name.hashes[label] as number;
      for (let slot = hash >>> (32 - log2); ; slot = (slot + 1) & mask) {
        const pair = slots + slot * TABLE_SLOT_WORDS;
        const root = words[pair + 1] as number;
        if (root === 0) break;
        if (words[pair] !== hash || root === REMOVED || !this.hasApex(root, name, label)) continue;
        this.apexLabel = label;
        return root;
      }
    }
    return 0;
  }

  /** Returns true if the suffix of `name` that starts at a label is the apex of the zone with this root. */
  hasApex(root: number, name: FoldedName, label: number): boolean {
    const words = this.#words[segmentOf(root)] as Int32Array;
    const at = wordOf(root);
    const start = name.labelAt[label] as number;
    const octets = ((words[at + ROOT.SHAPE] as number) >>> 8) & 0xff;
    return octets === name.length - start && name.isAt(start, name.length, words, at + ROOT.APEX);
  }
}
