// What a look-up of an ANAME's target saw: the addresses of each family, or why there are none.

import type { Name } from '../../dns/name.ts';
import type { WalkFailure } from '../delegation/evidence.ts';

export type FamilyEvidence =
  /** The addresses as text, in canonical order without duplicates; the lowest TTL on the way, in seconds. */
  | { readonly kind: 'found'; readonly addresses: readonly string[]; readonly ttl: number }
  /** The zone's own servers say that there are none: NODATA or NXDOMAIN. */
  | { readonly kind: 'none'; readonly ttl: number }
  /** There was no usable answer. */
  | { readonly kind: 'failed'; readonly reason: WalkFailure['reason']; readonly message: string };

export interface TargetEvidence {
  /** The target, and each name that its aliases lead to, in order. Folded. */
  readonly names: readonly Name[];
  readonly v4: FamilyEvidence;
  readonly v6: FamilyEvidence;
  /** Packets sent. */
  readonly queries: number;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly finishedAt: number;
}
