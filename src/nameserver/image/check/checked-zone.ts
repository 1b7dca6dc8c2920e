// The zone being checked, with the sums over its names, which must equal those in its root.

import { ROOT, wordOf } from '../layout.ts';

export class CheckedZone {
  readonly root: number;
  readonly apexOctets: number;
  readonly apexHash: number;
  /** Nodes with NSEC; undefined if the zone has no order index. */
  readonly denying: Set<number> | undefined;
  names = 0;
  records = 0;
  cuts = 0;
  dnames = 0;
  wildcards = 0;
  children = 0;
  wildcardParents = 0;
  hashed = 0;
  hasApex = false;
  isSigned = false;
  /** True if the apex has NSEC3PARAM. */
  hasParameters = false;
  /** The segment of the root. */
  readonly #words: Int32Array;

  constructor(root: number, words: Int32Array, apex: { octets: number; hash: number }, hasOrder: boolean) {
    this.root = root;
    this.#words = words;
    this.apexOctets = apex.octets;
    this.apexHash = apex.hash;
    this.denying = hasOrder ? new Set() : undefined;
  }

  word(index: number): number {
    return this.#words[wordOf(this.root) + index] as number;
  }

  has(flag: number): boolean {
    return (this.word(ROOT.SHAPE) & flag) !== 0;
  }
}
