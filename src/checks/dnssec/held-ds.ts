// DS evidence about a domain whose parent zone this fleet serves itself: from what Postgres holds of that zone.

import type { Name } from '../../dns/name.ts';
import type { HeldZone } from '../delegation/held-zone.ts';
import type { DsEvidence } from './ds-evidence.ts';

/** More than the set ever has here. */
const DS_TTL = 86_400;

export function heldDs(domain: Name, { zone, ds, ttl }: HeldZone, observedAt: number): DsEvidence {
  const outcome = ds.length > 0 ? 'positive' : 'none';
  const answer = {
    server: zone,
    address: '',
    outcome,
    ds,
    ttl: Math.max(ttl, DS_TTL),
    error: undefined,
  } as const;
  return { domain, parent: zone, answers: [answer], parentIsSecure: undefined, observedAt };
}
