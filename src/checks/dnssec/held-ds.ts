// DS evidence for a domain whose parent zone this fleet serves, read from Postgres once every node serves that version.
// Until then, nodes may show different DS records.

import type { Name } from '../../dns/name.ts';
import type { HeldZone } from '../delegation/held-zone.ts';
import type { DsAnswer, DsEvidence } from './ds-evidence.ts';

/** An upper bound for the TTL of the set here. */
const DS_TTL = 86_400;

export function heldDs(
  domain: Name,
  { zone, ds, ttl }: HeldZone,
  { isServed, observedAt }: { readonly isServed: boolean; readonly observedAt: number },
): DsEvidence {
  const from = { server: zone, address: '' };
  const answer: DsAnswer = isServed
    ? {
        ...from,
        outcome: ds.length > 0 ? 'positive' : 'none',
        ds,
        ttl: Math.max(ttl, DS_TTL),
        error: undefined,
      }
    : {
        ...from,
        outcome: 'unknown',
        ds: [],
        ttl: undefined,
        error: 'not every node serves the newest version of the parent zone',
      };
  return { domain, parent: zone, answers: [answer], parentIsSecure: undefined, observedAt };
}
