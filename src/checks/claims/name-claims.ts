// Everything known about a name when a check is evaluated: its claims, which are the accounts' domains with this name, and
// its history (docs/rules.md "Claims").

import type { Name } from '../../dns/name.ts';
import type { CheckState, NameserverSet } from '../delegation/check-state.ts';
import type { InnerDomain } from '../delegation/finding-text.ts';
import type { Verdict } from '../delegation/verdict.ts';

export interface NameClaims {
  /** Every checked domain of the name, ordered by id. */
  readonly claims: readonly CheckedClaim[];
  /** The domain that holds the name without being checked: it is active in external mode. */
  readonly externalHolder: { readonly id: number; readonly accountId: number } | undefined;
  /** Accounts with a domain of this name that waits but is not checked (unverified domains). */
  readonly alsoWaiting: readonly number[];
  /** Folded names of all our nameservers. */
  readonly ours: ReadonlySet<Name>;
  /** Number of sets that any account may have. The sets of a pool's accounts are not counted. */
  readonly staticSetCount: number;
  /** Accounts that held the name within two years. */
  readonly heldBy: readonly number[];
  /** When the name changed hands within the last day, in milliseconds since 1970. */
  readonly takeovers: readonly number[];
}

export interface CheckedClaim {
  readonly id: number;
  readonly accountId: number;
  readonly state: CheckState;
  /** Sets that prove this claim, its own first. */
  readonly sets: readonly ClaimSet[];
  /** See `Expected`. */
  readonly ownDs?: ReadonlySet<string>;
  /** True if an operator created or restored the claim. */
  readonly byOperator: boolean;
  /** True if its account held the name within 90 days. */
  readonly wasHolder: boolean;
  /** When the parent first showed the claim's set while another account held the name, in milliseconds since 1970. */
  readonly takeoverSeenAt: number | undefined;
  readonly lastVerdict: Verdict | undefined;
  /** Number of consecutive checks without a result while it is pending. */
  readonly unknowns: number;
  /** Planned time of its own next check, in milliseconds since 1970. */
  readonly plannedAt?: number | undefined;
  /** Set while it is pending: other accounts' domains inside it that end when it is proven. */
  readonly inner?: readonly InnerDomain[];
}

export interface ClaimSet {
  readonly names: NameserverSet;
  /** True if no other account ever gets this set. */
  readonly exclusive: boolean;
}

/** True if two sets have the same names. */
export function isSameSet(a: NameserverSet, b: NameserverSet): boolean {
  return a.length === b.length && a.every((name) => b.includes(name));
}

export function isHolding({ state }: CheckedClaim): boolean {
  return state.status === 'active' || state.status === 'moved' || state.status === 'leaving';
}

/** Returns another account's domain that holds the name. */
export function holderBeside(name: NameClaims, claim: CheckedClaim): { readonly id: number } | undefined {
  return name.claims.find((other) => other.id !== claim.id && isHolding(other)) ?? name.externalHolder;
}

/** Returns every domain that holds the name. */
export function holdersOf({ claims, externalHolder }: NameClaims): readonly number[] {
  return [...claims.filter(isHolding), ...(externalHolder === undefined ? [] : [externalHolder])].map(
    ({ id }) => id,
  );
}
