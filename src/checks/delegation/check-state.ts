// What is remembered of a domain from one check to the next. The checker moves three statuses; `leaving` is a domain that
// went to external mode and is served until its parent shows none of our servers, `ended` one that the checker disabled.

import type { Name } from '../../dns/name.ts';
import type { Steadiness } from './steadiness.ts';

export type CheckedStatus = 'pending' | 'active' | 'moved' | 'leaving' | 'ended';

/** The state of a domain. All times are milliseconds since 1970. */
export interface CheckState {
  readonly status: CheckedStatus;
  /** When this status began: `pending_since`, `moved_since`, for `leaving` the switch to external mode, for `ended` the end. */
  readonly since: number;
  /**
   * How many conclusive misses in a row there were, each confirmed by a second parent address. `firstAt` starts again
   * when the clock goes back.
   */
  readonly misses: { readonly count: number; readonly firstAt: number; readonly lastAt: number } | undefined;
  /** The newest conclusive check since `since` that was confirmed or had a sole witness, and which servers of ours it showed. */
  readonly conclusive:
    | {
        readonly at: number;
        /** Any of the domain's own sets. */
        readonly oursShown: boolean;
        /** Any that is in none of its sets. */
        readonly othersShown: boolean;
      }
    | undefined;
  /** Since when a sole witness, in every conclusive check, shows a set of the domain. */
  readonly witnessAt: number | undefined;
  /** What the newest confirmed check saw, and how often that changed within a day. */
  readonly steadiness?: Steadiness | undefined;
}

/** The folded names of one set. */
export type NameserverSet = readonly Name[];

/** What evidence is compared with. */
export interface Expected {
  /** The sets that this domain may be delegated to, its own first. */
  readonly sets: readonly NameserverSet[];
  /** Every name of a nameserver of ours, folded. */
  readonly ours: ReadonlySet<Name>;
  /** The addresses of our servers; absent while they are not known. */
  readonly ourAddresses?: ReadonlySet<string>;
  /** The rdata of DS records of the domain's own keys, as hexadecimal digits; absent: it has none. */
  readonly ownDs?: ReadonlySet<string>;
}
