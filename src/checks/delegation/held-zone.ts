// A zone of ours above a domain: what this fleet itself would answer as the domain's parent.

import type { Name } from '../../dns/name.ts';

/** What this fleet holds of the deepest zone above a domain that it serves. Names are folded. */
export interface HeldZone {
  readonly zone: Name;
  /** The topmost cut between the zone and the domain, perhaps the domain itself. */
  readonly cut: Name | undefined;
  /** The NS of the cut. */
  readonly ns: readonly Name[];
  readonly ds: readonly Uint8Array[];
  readonly glue: readonly { readonly name: Name; readonly address: string }[];
  /** The TTL of the NS set; without one, that of a negative answer. */
  readonly ttl: number;
  /** If there is no cut: the zone has the domain's name, or one below it. A wildcard does not count as the name. */
  readonly exists: boolean;
  /** If there is no cut: a CNAME stands at the name, or a DNAME at it or above it. */
  readonly alias: boolean;
}
