// The additional records that an edit needs if delegations are involved. An address at or below a delegation is glue as
// long as an NS record of the domain names its host (RFC 9471 §2), and that NS record may be anywhere in the domain.

import { isWithin, type Name } from '../../dns/name.ts';
import type { CustomerRecord } from '../records/customer-record.ts';
import { targetOf } from '../records/rdata-key.ts';
import { namesBetween } from '../records/record-name.ts';
import type { RecordsNeeded } from './edit.ts';

/**
 * Third step of loading, after `namesTouched`: returns the hosts that the affected delegations named before. Their
 * addresses may no longer be glue, so every record at them is needed, and the NS records above.
 */
export function formerHosts({ below }: RecordsNeeded, apex: Name, found: readonly CustomerRecord[]): Name[] {
  if (below.length === 0) return [];
  const delegations = new Set(below);
  const hosts = new Set<Name>();
  for (const { name, type, rdata } of found) {
    if (type !== 'NS' || !delegations.has(name)) continue;
    const host = targetOf(type, rdata) as Name;
    if (host !== apex && isWithin(host, apex)) hosts.add(host);
  }
  return [...hosts];
}

/**
 * Last step of loading, with all records found: returns the hosts whose addresses are only allowed as glue. Each needs
 * one NS record that names it, if there is one besides those at `needed.below`, which are known.
 */
export function possibleGlue(needed: RecordsNeeded, apex: Name, found: readonly CustomerRecord[]): Name[] {
  const cuts = new Set(needed.below);
  const names = new Set(needed.at);
  for (const { name, type } of found) {
    if (type === 'NS') cuts.add(name);
    else if (type === 'A' || type === 'AAAA') names.add(name);
  }
  if (cuts.size === 0) return [];
  const isCut = (name: Name) => cuts.has(name);
  return [...names].filter((name) => isCut(name) || [...namesBetween(name, apex)].some(isCut));
}
