// Chooses the nameserver sets that prove a new claim (docs/rules.md "Sets and rights"). With a pool, it is the account's
// own set, which no other account has. With static sets, it is any of them if no other account was ever involved with the
// name.

import type { Name } from '../../dns/name.ts';
import type { NameserverSet } from '../delegation/check-state.ts';
import { type ClaimSet, isSameSet } from './name-claims.ts';
import { spentSets } from './spent-sets.ts';

/** For each name, a set belongs to one account. */
export interface SetRight {
  readonly names: NameserverSet;
  readonly accountId: number;
  readonly exclusive: boolean;
}

/** History of a name when a claim is made. */
export interface NamePast {
  readonly rights: readonly SetRight[];
  /** True if sets seen before are still accepted: an operator makes the claim, or its account held the name within 90 days. */
  readonly mayBeSeen: boolean;
  /** True if another account has or had a claim on the name. */
  readonly isContested: boolean;
  /** Our nameservers that the parent showed before. */
  readonly shown: ReadonlySet<Name>;
}

/** Returns the account's own sets first; with `every`, all static sets. Returns an empty list if none is left. */
export function chooseStaticSets(
  accountId: number,
  all: readonly NameserverSet[],
  { rights, mayBeSeen, isContested, shown }: NamePast,
): readonly ClaimSet[] | 'every' {
  const sets = all.map((names) => ({ names, exclusive: false }));
  const spent = spentSets(sets, shown, { mayBeSeen, isOnlySet: all.length === 1, isContested });
  const left = sets.filter(({ names }) => !spent.includes(names));
  const others = rights.filter((right) => right.accountId !== accountId);
  if (others.length === 0 && !isContested) return spent.length === 0 ? 'every' : left;
  const own = left.filter(({ names }) => rightTo(names, rights)?.accountId === accountId);
  const free = left.filter(({ names }) => rightTo(names, rights) === undefined);
  // Assign one set per account: the next account that claims the name needs one too.
  return own.length > 0 ? own : free.slice(0, 1);
}

type PoolChoice =
  | { readonly kind: 'sets'; readonly sets: readonly ClaimSet[] }
  /**
   * The account's own set cannot prove this claim. It needs a set for which `isUsable` is true, in preference to those in
   * `besides`.
   */
  | {
      readonly kind: 'substitute';
      readonly isUsable: (set: NameserverSet) => boolean;
      readonly besides: readonly ClaimSet[];
    };

/** `own`: the account's set. */
export function choosePoolSets(
  accountId: number,
  own: ClaimSet,
  { rights, mayBeSeen, shown }: NamePast,
): PoolChoice {
  const isTaken = (set: NameserverSet) => (rightTo(set, rights)?.accountId ?? accountId) !== accountId;
  const isShown = (set: NameserverSet) => set.some((name) => shown.has(name));
  const isSpent = ({ names, exclusive }: ClaimSet) => !exclusive && !mayBeSeen && isShown(names);
  const before = rights
    .filter((right) => right.accountId === accountId)
    .map(({ names, exclusive }): ClaimSet => ({ names, exclusive }))
    .filter((set) => !isSpent(set));
  const first = !isTaken(own.names) && !isSpent(own) ? own : before.find(({ exclusive }) => exclusive);
  if (first === undefined)
    return { kind: 'substitute', isUsable: (set) => !isTaken(set) && !isShown(set), besides: before };
  return { kind: 'sets', sets: [first, ...before.filter(({ names }) => !isSameSet(names, first.names))] };
}

/** True if a set can replace spent ones: no account has it for this name, and the parent never showed it. */
export function isNewToName(
  set: NameserverSet,
  accountId: number,
  { rights, shown }: Pick<NamePast, 'rights' | 'shown'>,
): boolean {
  const owner = rightTo(set, rights)?.accountId ?? accountId;
  return owner === accountId && !set.some((name) => shown.has(name));
}

/**
 * Returns the rights that end with their account's claim: those to shared sets that the parent never showed. Otherwise two
 * short-lived claims would use up two static sets forever. `sighted`: the names of each sighting.
 */
export function endingRights<T extends Omit<SetRight, 'names'> & { readonly names: readonly string[] }>(
  rights: readonly T[],
  accountId: number,
  sighted: readonly (readonly string[])[],
): readonly T[] {
  return rights.filter(
    (right) =>
      right.accountId === accountId &&
      !right.exclusive &&
      !sighted.some((names) => names.some((name) => right.names.includes(name))),
  );
}

function rightTo(set: NameserverSet, rights: readonly SetRight[]): SetRight | undefined {
  return rights.find(({ names }) => isSameSet(names, set));
}
