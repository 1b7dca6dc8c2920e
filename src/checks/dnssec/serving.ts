// The DNSSEC data that a zone serves, and set operations on key ids.

import type { KeyId } from './machine-key.ts';

/** All lists are sorted. They are empty if the zone is unsigned. */
export interface Serving {
  /** The DNSKEY set. */
  readonly keys: readonly KeyId[];
  /** Keys of the DNSKEY set that sign the DNSKEY, CDS and CDNSKEY sets (RFC 7344 §4.1). */
  readonly keySigners: readonly KeyId[];
  /** Keys that sign all other sets. During an algorithm change, also a key that is not in the DNSKEY set. */
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

/** Returns the sorted union without duplicates, so that equal sets are equal JSON. */
export function union(a: readonly string[], b: readonly string[]): readonly string[] {
  return [...new Set([...a, ...b])].sort();
}

export function without(a: readonly string[], b: readonly string[]): readonly string[] {
  return a.filter((each) => !b.includes(each));
}
