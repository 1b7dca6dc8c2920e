// Which sets of a name have signatures, and which types its denial shows.

import { type Name, parentOf } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { EDGE_MARK_TYPE, MARK_TYPE } from '../zone.ts';

export type DenialKind = 'nsec' | 'nsec3';

/** Where a name lies: at or above no cut but its own, at a cut, or below one. */
export type Depth = 'inside' | 'cut' | 'below';

/** `isCut`: whether a name other than the apex has NS. */
export function depthOf(name: Name, apex: Name, isCut: (name: Name) => boolean): Depth {
  for (const above of namesBetween(name, apex)) if (isCut(above)) return 'below';
  return name !== apex && isCut(name) ? 'cut' : 'inside';
}

/** The names between a name and the apex, neither included. */
export function* namesBetween(name: Name, apex: Name): Generator<Name> {
  if (name === apex) return;
  for (let above = parentOf(name); above !== apex; above = parentOf(above)) yield above;
}

/** Types that the signer makes: never what somebody wants at a name. */
const MADE: ReadonlySet<number> = new Set([TYPE.RRSIG, TYPE.NSEC, TYPE.NSEC3, TYPE.NSEC3PARAM]);

export function isMade(type: number): boolean {
  return MADE.has(type);
}

/** RFC 4035 §2.2: authoritative sets; at a cut those that are the parent's (§2.3, §2.4). */
export function isSigned(type: number, depth: Depth): boolean {
  if (type === MARK_TYPE || type === EDGE_MARK_TYPE || type === TYPE.RRSIG || depth === 'below') return false;
  return depth === 'inside' || type === TYPE.DS || type === TYPE.NSEC;
}

function isChain(type: number): boolean {
  return type === TYPE.RRSIG || type === TYPE.NSEC || type === TYPE.NSEC3;
}

/**
 * The types that NSEC or NSEC3 shows, in rising order. `types` are those that stand at the name, which has a denial: marks
 * and what the signer makes beside are left out. An empty list is an empty non-terminal, or a marked name with NSEC3.
 */
export function denialTypes(types: Iterable<number>, depth: Depth, kind: DenialKind): number[] {
  const shown: number[] = [];
  let isAnySigned = kind === 'nsec'; // the NSEC itself is (RFC 4034 §4.1.2)
  for (const type of types) {
    if (type === MARK_TYPE || type === EDGE_MARK_TYPE || isChain(type)) continue;
    const isShown = isSigned(type, depth);
    if (isShown) isAnySigned = true;
    if (isShown || (depth === 'cut' && type === TYPE.NS)) shown.push(type);
  }
  if (isAnySigned) shown.push(TYPE.RRSIG); // at an insecure cut nothing is signed (RFC 5155 §7.1)
  if (kind === 'nsec') shown.push(TYPE.NSEC);
  return shown.sort((a, b) => a - b);
}
