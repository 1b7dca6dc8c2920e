// What a zone serves of DNSSEC, and sets of key ids.

import type { KeyId } from './machine-key.ts';

/** Nothing in any list: the zone is unsigned. Lists are sorted. */
export interface Serving {
  /** The DNSKEY set. */
  readonly keys: readonly KeyId[];
  /** Which of them sign the DNSKEY, CDS and CDNSKEY sets (RFC 7344 §4.1). */
  readonly keySigners: readonly KeyId[];
  /** Whose signatures all other sets have; in a change of algorithm also of a key that is not in the DNSKEY set. */
  readonly dataSigners: readonly KeyId[];
}

export const UNSIGNED: Serving = { keys: [], keySigners: [], dataSigners: [] };

export function isSigned({ keys }: Serving): boolean {
  return keys.length > 0;
}

export function isSameServing(a: Serving, b: Serving): boolean {
  return (
    isSameSet(a.keys, b.keys) &&
    isSameSet(a.keySigners, b.keySigners) &&
    isSameSet(a.dataSigners, b.dataSigners)
  );
}

export function isSameSet(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((each) => b.includes(each));
}

/** Both, each once, in one order, so that equal sets are equal JSON. */
export function union(a: readonly string[], b: readonly string[]): readonly string[] {
  return [...new Set([...a, ...b])].sort();
}

export function without(a: readonly string[], b: readonly string[]): readonly string[] {
  return a.filter((each) => !b.includes(each));
}
