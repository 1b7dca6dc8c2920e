// Whether the types of an NSEC or NSEC3 record deny a type at its name.

import { TYPE } from '../../dns/type-codes.ts';

/** The record is of the side of a cut that cannot deny what lies at or below it (RFC 6840 §4.1, §4.4). */
export function isAncestor(types: ReadonlySet<number>): boolean {
  return types.has(TYPE.NS) && !types.has(TYPE.SOA);
}

/** Why the record at the name does not deny the type; undefined when it does. */
export function denialFault(types: ReadonlySet<number>, type: number, isRoot: boolean): string | undefined {
  if (types.has(type)) return 'the proof says that there is one';
  if (types.has(TYPE.CNAME)) return 'the proof says that there is an alias';
  if (type === TYPE.DS) {
    return types.has(TYPE.SOA) && !isRoot ? "the proof is of the child's side of the cut" : undefined;
  }
  return isAncestor(types) ? "the proof is of the parent's side of a cut" : undefined;
}
