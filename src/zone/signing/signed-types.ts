// Decides which sets of a name are signed, and which types its denial lists.

import { type Name, parentOf } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { EDGE_MARK_TYPE, MARK_TYPE } from '../zone.ts';

export type DenialKind = 'nsec' | 'nsec3';

/** Position of a name: not at or below a cut, at a cut, or below one. */
export type Depth = 'inside' | 'cut' | 'below';

/** @param isCut returns true if a name other than the apex has NS */
export function depthOf(name: Name, apex: Name, isCut: (name: Name) => boolean): Depth {
  for (const above of namesBetween(name, apex)) if (isCut(above)) return 'below';
  return name !== apex && isCut(name) ? 'cut' : 'inside';
}

/** Yields the names between a name and the apex, both excluded. */
export function* namesBetween(name: Name, apex: Name): Generator<Name> {
  if (name === apex) return;
  for (let above = parentOf(name); above !== apex; above = parentOf(above)) yield above;
}

/** Types that the signer makes. Callers never request them. */
const MADE: ReadonlySet<number> = new Set([TYPE.RRSIG, TYPE.NSEC, TYPE.NSEC3, TYPE.NSEC3PARAM]);

export function isMade(type: number): boolean {
  return MADE.has(type);
}

/** Authoritative sets are signed (RFC 4035 §2.2); at a cut, only the parent's (§2.3, §2.4). */
export function isSigned(type: number, depth: Depth): boolean {
  if (type === MARK_TYPE || type === EDGE_MARK_TYPE || type === TYPE.RRSIG || depth === 'below') return false;
  return depth === 'inside' || type === TYPE.DS || type === TYPE.NSEC;
}

function isChain(type: number): boolean {
  return type === TYPE.RRSIG || type === TYPE.NSEC || type === TYPE.NSEC3;
}

/**
 * Returns the types that NSEC or NSEC3 lists, in ascending order. `types` are those at a name with a denial; marks and
 * types that the signer makes are ignored. An empty list means an empty non-terminal, or a marked name with NSEC3.
 */
export function denialTypes(types: Iterable<number>, depth: Depth, kind: DenialKind): number[] {
  const shown: number[] = [];
  let isAnySigned = kind === 'nsec'; // the NSEC itself is signed (RFC 4034 §4.1.2)
  for (const type of types) {
    if (type === MARK_TYPE || type === EDGE_MARK_TYPE || isChain(type)) continue;
    const isShown = isSigned(type, depth);
    if (isShown) isAnySigned = true;
    if (isShown || (depth === 'cut' && type === TYPE.NS)) shown.push(type);
  }
  if (isAnySigned) shown.push(TYPE.RRSIG); // nothing is signed at an insecure cut (RFC 5155 §7.1)
  if (kind === 'nsec') shown.push(TYPE.NSEC);
  return shown.sort((a, b) => a - b);
}
