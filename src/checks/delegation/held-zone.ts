// A zone of this fleet above a domain: what the fleet itself would answer as the domain's parent.

import type { Name } from '../../dns/name.ts';

/** Data of the closest enclosing zone that this fleet serves. Names are folded. */
export interface HeldZone {
  readonly zone: Name;
  /** The topmost zone cut between the zone and the domain, possibly at the domain itself. */
  readonly cut: Name | undefined;
  /** NS names of the cut. */
  readonly ns: readonly Name[];
  readonly ds: readonly Uint8Array[];
  readonly glue: readonly { readonly name: Name; readonly address: string }[];
  /** TTL of the NS set or, without one, of a negative answer. */
  readonly ttl: number;
  /** Without a cut: true if the zone has the domain's name or one below it. A wildcard does not count. */
  readonly exists: boolean;
  /** Without a cut: true if there is a CNAME at the name, or a DNAME at or above it. */
  readonly alias: boolean;
}
