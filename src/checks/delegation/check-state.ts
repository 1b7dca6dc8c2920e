// State of a domain that is kept from one check to the next. The checker changes three statuses. A `leaving` domain went to
// external mode and is served until its parent shows none of our servers. An `ended` domain was disabled by the checker.

import type { Name } from '../../dns/name.ts';
import type { Steadiness } from './steadiness.ts';

export type CheckedStatus = 'pending' | 'active' | 'moved' | 'leaving' | 'ended';

/** The state of a domain. All times are milliseconds since 1970. */
export interface CheckState {
  readonly status: CheckedStatus;
  /**
   * When this status began: `pending_since` or `moved_since`; for `leaving`, the switch to external mode; for
   * `ended`, the end.
   */
  readonly since: number;
  /** Consecutive conclusive misses, each confirmed by a second parent address. `firstAt` is reset if the clock goes back. */
  readonly misses: { readonly count: number; readonly firstAt: number; readonly lastAt: number } | undefined;
  /** The newest conclusive check since `since` that was confirmed or had a sole witness, and which of our servers it showed. */
  readonly conclusive:
    | {
        readonly at: number;
        /** True if it showed any of the domain's own sets. */
        readonly oursShown: boolean;
        /** True if it showed any of our servers that is in none of its sets. */
        readonly othersShown: boolean;
      }
    | undefined;
  /** When a sole witness began to show a set of the domain in every conclusive check. */
  readonly witnessAt: number | undefined;
  /** Result of the newest confirmed check, and how often it changed within a day. */
  readonly steadiness?: Steadiness | undefined;
}

/** The folded names of one set. */
export type NameserverSet = readonly Name[];

/** The values with which evidence is compared. */
export interface Expected {
  /** Sets that this domain may be delegated to, its own first. */
  readonly sets: readonly NameserverSet[];
  /** Folded names of all our nameservers. */
  readonly ours: ReadonlySet<Name>;
  /** Addresses of our servers. Absent while they are not known. */
  readonly ourAddresses?: ReadonlySet<string>;
  /** Rdata of the DS records for the domain's own keys, in hexadecimal. Absent if it has none. */
  readonly ownDs?: ReadonlySet<string>;
}
