// Decides whether the types of an NSEC or NSEC3 record deny a type at its name.

import { TYPE } from '../../dns/type-codes.ts';

/**
 * True if the record is from the parent side of a zone cut, where it cannot deny data at or below the cut (RFC 6840 §4.1,
 * §4.4).
 */
export function isAncestor(types: ReadonlySet<number>): boolean {
  return types.has(TYPE.NS) && !types.has(TYPE.SOA);
}

/** Returns why the record does not deny the type at its name. Returns undefined if it does. */
export function denialFault(types: ReadonlySet<number>, type: number, isRoot: boolean): string | undefined {
  if (types.has(type)) return 'the proof shows that the record exists';
  if (types.has(TYPE.CNAME)) return 'the proof shows that there is an alias';
  if (type === TYPE.DS) {
    return types.has(TYPE.SOA) && !isRoot ? 'the proof is from the child side of a zone cut' : undefined;
  }
  return isAncestor(types) ? 'the proof is from the parent side of a zone cut' : undefined;
}
