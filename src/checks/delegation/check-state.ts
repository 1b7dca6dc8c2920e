// What is remembered of a domain from one check to the next. The checker moves three statuses; `leaving` is a domain that
// went to external mode and is served until its parent shows none of our servers.

import type { Name } from '../../dns/name.ts';

export type CheckedStatus = 'pending' | 'active' | 'moved' | 'leaving';

/** The state of a domain. All times are milliseconds since 1970. */
export interface CheckState {
  readonly status: CheckedStatus;
  /** When this status began: `pending_since`, `moved_since`, for `leaving` the switch to external mode. */
  readonly since: number;
  /**
   * How many conclusive misses in a row there were, each confirmed by a second parent address. `firstAt` starts again
   * when the clock goes back.
   */
  readonly misses: { readonly count: number; readonly firstAt: number; readonly lastAt: number } | undefined;
  /** The newest conclusive check since `since`, and whether it showed any of our servers. */
  readonly conclusive: { readonly at: number; readonly oursShown: boolean } | undefined;
  readonly preset: Preset;
}

/**
 * Whether the name was delegated to us before its owner created the domain (docs/rules.md "Preset delegation"):
 * `undecided` until the first conclusive check, `standing` with the sets that were taken off this domain.
 */
export type Preset =
  | { readonly kind: 'clear' }
  | { readonly kind: 'undecided' }
  | { readonly kind: 'standing'; readonly taken: readonly NameserverSet[] };

/** The folded names of one set. */
export type NameserverSet = readonly Name[];

/** What evidence is compared with. */
export interface Expected {
  /** The sets that this domain may be delegated to, its own first. */
  readonly sets: readonly NameserverSet[];
  /** Every set of the fleet: a name in any of them is one of our servers. */
  readonly allSets: readonly NameserverSet[];
  /** The addresses of our servers; absent while they are not known. */
  readonly ourAddresses?: ReadonlySet<string>;
}
