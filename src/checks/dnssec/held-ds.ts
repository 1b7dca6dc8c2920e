// DS evidence about a domain whose parent zone this fleet serves itself: from what Postgres holds of that zone, as soon as every
// node serves it. A node that has it not yet, or not any more, shows other DS records.

import type { Name } from '../../dns/name.ts';
import type { HeldZone } from '../delegation/held-zone.ts';
import type { DsAnswer, DsEvidence } from './ds-evidence.ts';

/** More than the set ever has here. */
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
        error: 'not every node serves its newest version',
      };
  return { domain, parent: zone, answers: [answer], parentIsSecure: undefined, observedAt };
}
