// What is known of a name when a check of it is judged: its claims, which are the domains that accounts have under this
// name, and its past (docs/rules.md "Claims").

import type { Name } from '../../dns/name.ts';
import type { CheckState, NameserverSet } from '../delegation/check-state.ts';
import type { InnerDomain } from '../delegation/finding-text.ts';
import type { Verdict } from '../delegation/verdict.ts';

export interface NameClaims {
  /** Every domain of the name that is checked, in the order of their ids. */
  readonly claims: readonly CheckedClaim[];
  /** A domain that holds the name and is not checked: it is active in external mode. */
  readonly externalHolder: { readonly id: number; readonly accountId: number } | undefined;
  /** Accounts with a domain of this name that waits without being checked: unverified ones. */
  readonly alsoWaiting: readonly number[];
  /** Every name of a nameserver of ours. Names are folded. */
  readonly ours: ReadonlySet<Name>;
  /** How many sets any account may have; those of a pool's accounts are not among them. */
  readonly staticSetCount: number;
  /** The accounts that held the name within two years. */
  readonly heldBy: readonly number[];
  /** When the name last changed hands within a day, in milliseconds since 1970. */
  readonly takeovers: readonly number[];
}

export interface CheckedClaim {
  readonly id: number;
  readonly accountId: number;
  readonly state: CheckState;
  /** The sets that prove this claim, its own first. */
  readonly sets: readonly ClaimSet[];
  /** As in `Expected`. */
  readonly ownDs?: ReadonlySet<string>;
  /** The operator made it, or brought it back. */
  readonly byOperator: boolean;
  /** Its account held the name within 90 days. */
  readonly wasHolder: boolean;
  /** The parent showed the claim's set while another account held the name: since then, in milliseconds since 1970. */
  readonly takeoverSeenAt: number | undefined;
  readonly lastVerdict: Verdict | undefined;
  /** How many checks in a row saw nothing, while it is pending. */
  readonly unknowns: number;
  /** When its own next check is planned, in milliseconds since 1970. */
  readonly plannedAt?: number | undefined;
  /** While it is pending: domains of other accounts inside it that end when it is proven. */
  readonly inner?: readonly InnerDomain[];
}

export interface ClaimSet {
  readonly names: NameserverSet;
  /** No other account ever gets this set. */
  readonly exclusive: boolean;
}

/** Whether two sets have the same names. */
export function isSameSet(a: NameserverSet, b: NameserverSet): boolean {
  return a.length === b.length && a.every((name) => b.includes(name));
}

export function isHolding({ state }: CheckedClaim): boolean {
  return state.status === 'active' || state.status === 'moved' || state.status === 'leaving';
}

/** The domain of another account that holds the name. */
export function holderBeside(name: NameClaims, claim: CheckedClaim): { readonly id: number } | undefined {
  return name.claims.find((other) => other.id !== claim.id && isHolding(other)) ?? name.externalHolder;
}

/** Every domain that holds the name. */
export function holdersOf({ claims, externalHolder }: NameClaims): readonly number[] {
  return [...claims.filter(isHolding), ...(externalHolder === undefined ? [] : [externalHolder])].map(
    ({ id }) => id,
  );
}
