// Loads the memory that several answers need, before the first of them is made. Loads that do not depend on each other
// overlap, so the processor waits for memory a few times per group. Otherwise it would wait several times per name if the
// zones do not fit into its caches.

import type { Image } from '../image.ts';
import {
  HEADER,
  log2BucketsIn,
  REMOVED,
  ROOT,
  ROOT_FLAG,
  segmentOf,
  TABLE,
  TABLE_SLOT_WORDS,
  wordOf,
} from '../layout.ts';
import type { FoldedName } from './folded-name.ts';

/** Maximum number of names in a group. A power of two. */
export const MOST_AHEAD = 16;

export class ReadAhead {
  readonly #header: Int32Array;
  readonly #words: readonly Int32Array[];
  readonly #hashes = new Int32Array(MOST_AHEAD);
  /** For each name, the block that is loaded next and the index of its word. A ref of 0 ends the search. */
  readonly #refs = new Int32Array(MOST_AHEAD);
  readonly #at = new Int32Array(MOST_AHEAD);

  constructor(image: Image) {
    this.#header = image.header;
    this.#words = image.words;
  }

  /**
   * Loads the zone, the bucket and the node of the first `count` names, as far as the hashes match. The search itself
   * compares the names. The caller must have entered its reader slot.
   */
  load(names: readonly FoldedName[], count: number): void {
    const all = this.#words;
    const hashes = this.#hashes;
    const refs = this.#refs;
    const ats = this.#at;
    for (let i = 0; i < count; i++) {
      const name = names[i] as FoldedName;
      hashes[i] = name.hashes[0] as number;
      this.#findRoot(name);
      refs[i] = name.rootAhead;
    }
    for (let i = 0; i < count; i++) {
      const root = refs[i] as number;
      if (root === 0) continue;
      const words = all[segmentOf(root)] as Int32Array;
      const shape = words[wordOf(root) + ROOT.SHAPE] as number;
      const index = wordOf(root) + ROOT.APEX + ((((shape >>> 8) & 0xff) + 3) >>> 2);
      if ((shape & ROOT_FLAG.NOT_SERVED) !== 0) {
        refs[i] = 0;
        continue;
      }
      const log2 = log2BucketsIn(shape);
      const bucket = log2 === 0 ? root : (words[index + ((hashes[i] as number) >>> (32 - log2))] as number);
      refs[i] = bucket;
      ats[i] = log2 === 0 ? index : wordOf(bucket);
    }
    for (let i = 0; i < count; i++) {
      const bucket = refs[i] as number;
      if (bucket !== 0)
        refs[i] = this.#findNode(all[segmentOf(bucket)] as Int32Array, ats[i] as number, hashes[i] as number);
    }
    for (let i = 0; i < count; i++) {
      const node = refs[i] as number;
      (names[i] as FoldedName).nodeAhead = node;
      refs[i] = (all[segmentOf(node)] as Int32Array)[wordOf(node)] as number; // stored, or the compiler omits the load
    }
  }

  /** Finds the zone whose apex has the hash of the longest suffix. Sets `rootAhead` and `apexLabelAhead`. */
  #findRoot(name: FoldedName): void {
    const depths = this.#header[HEADER.APEX_DEPTHS] as number;
    const table = this.#header[HEADER.ZONE_TABLE] as number;
    const words = this.#words[segmentOf(table)] as Int32Array;
    const slots = wordOf(table) + TABLE.SLOTS;
    const log2 = words[wordOf(table) + TABLE.LOG2_CAPACITY] as number;
    const mask = (1 << log2) - 1;
    const { labels, hashes } = name;
    for (let label = 0; label <= labels; label++) {
      const depth = labels - label;
      if (((depths >>> (depth > 31 ? 31 : depth)) & 1) === 0) continue;
      const hash = hashes[label] as number;
      for (let slot = hash >>> (32 - log2); ; slot = (slot + 1) & mask) {
        const root = words[slots + slot * TABLE_SLOT_WORDS + 1] as number;
        if (root === 0) break;
        if (words[slots + slot * TABLE_SLOT_WORDS] !== hash || root === REMOVED) continue;
        name.rootAhead = root;
        name.apexLabelAhead = label;
        return;
      }
    }
    name.rootAhead = 0;
  }

  /** Returns the node with this hash in the bucket at `at`, or 0. */
  #findNode(words: Int32Array, at: number, hash: number): number {
    const end = at + 2 * (words[at] as number);
    for (let pair = at + 1; pair < end; pair += 2) if (words[pair] === hash) return words[pair + 1] as number;
    return 0;
  }
}
