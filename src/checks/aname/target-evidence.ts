// Result of looking up an ANAME target: the addresses of each family, or why there are none.

import type { Name } from '../../dns/name.ts';
import type { WalkFailure } from '../delegation/evidence.ts';

export type FamilyEvidence =
  /** Addresses as text, in canonical order without duplicates, and the lowest TTL of the alias chain in seconds. */
  | { readonly kind: 'found'; readonly addresses: readonly string[]; readonly ttl: number }
  /** The zone's own servers answered NODATA or NXDOMAIN. */
  | { readonly kind: 'none'; readonly ttl: number }
  /** There was no usable answer. */
  | { readonly kind: 'failed'; readonly reason: WalkFailure['reason']; readonly message: string };

export interface TargetEvidence {
  /** The target and every name in its alias chain, in order and folded. */
  readonly names: readonly Name[];
  readonly v4: FamilyEvidence;
  readonly v6: FamilyEvidence;
  /** Number of packets sent. */
  readonly queries: number;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly finishedAt: number;
}
