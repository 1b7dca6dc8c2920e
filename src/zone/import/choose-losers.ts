// Chooses which of several conflicting records an import leaves out.

import type { Name } from '../../dns/name.ts';
import type { EditProblem } from '../edit/edit.ts';
import { type ApiType, isAddressLike } from '../records/customer-types.ts';

/** The record that results from an item. */
export interface Written {
  readonly name: Name;
  readonly type: ApiType;
  readonly proxied: boolean;
  readonly isNew: boolean;
}

/** Returns the conflicts whose items are left out. `writtenBy` returns the record that results from the item of a conflict. */
export function chooseLosers(
  conflicts: readonly EditProblem[],
  writtenBy: (conflict: EditProblem) => Written,
): EditProblem[] {
  const clashing = new Map<Name, EditProblem[]>();
  for (const conflict of conflicts) {
    const { name } = writtenBy(conflict);
    const group = clashing.get(name);
    if (group === undefined) clashing.set(name, [conflict]);
    else group.push(conflict);
  }
  const losers: EditProblem[] = [];
  for (const group of clashing.values()) for (const each of losersAtName(group, writtenBy)) losers.push(each);
  return losers;
}

/**
 * Returns those of the conflicts at one name whose record cannot exist together with an earlier one. Existing rows count as
 * earlier than new ones. If all of the records could exist together, they conflict with something else, and all of them lose.
 */
function losersAtName(
  problems: readonly EditProblem[],
  writtenBy: (conflict: EditProblem) => Written,
): readonly EditProblem[] {
  /** One of each kind, because records of one kind clash with the same others. */
  const kept: Written[] = [];
  const losers: EditProblem[] = [];
  const inOrder = [...problems].sort(
    (a, b) => Number(writtenBy(a).isNew) - Number(writtenBy(b).isNew) || a.index - b.index,
  );
  for (const problem of inOrder) {
    const written = writtenBy(problem);
    if (kept.some((other) => clash(other, written))) losers.push(problem);
    else if (!kept.some((other) => isAlike(other, written))) kept.push(written);
  }
  return losers.length > 0 ? losers : problems;
}

/** Returns true if two records can never exist at one name (docs/rules.md "Published records" and docs/rules.md "Records"). */
function clash(a: Written, b: Written): boolean {
  const isAlias = ({ type }: Written) => type === 'CNAME' || type === 'ANAME';
  if (isAlias(a) && isAlias(b)) return true;
  if (a.type === 'DNAME' && b.type === 'DNAME') return true;
  if ([a, b].some(({ type, proxied }) => type === 'CNAME' && !proxied)) return true;
  if (!isAddressLike(a.type) || !isAddressLike(b.type)) return false;
  return a.proxied !== b.proxied || [a, b].some(({ type, proxied }) => type === 'ANAME' && !proxied);
}

/** True if both records clash with the same others. This keeps the number of kinds small, although there are 65,000 types. */
function isAlike(a: Written, b: Written): boolean {
  return a.proxied === b.proxied && (a.type === b.type || !(clashes(a) || clashes(b)));
}

function clashes({ type }: Written): boolean {
  return isAddressLike(type) || type === 'DNAME';
}
