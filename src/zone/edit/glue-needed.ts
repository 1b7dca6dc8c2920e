// What an edit must see besides its names where delegations are concerned: an address at or below one is glue as long
// as an NS of the domain names its host (RFC 9471 §2), and that NS can stand anywhere in the domain.

import { isWithin, type Name } from '../../dns/name.ts';
import type { CustomerRecord } from '../records/customer-record.ts';
import { targetOf } from '../records/rdata-key.ts';
import { namesBetween } from '../records/record-name.ts';
import type { RecordsNeeded } from './edit.ts';

/**
 * Third step of loading, after `namesTouched`: the hosts that the delegations concerned named before. Their addresses
 * may be glue no longer, so every record there is needed, and the NS above.
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
 * Last step, with all that was found: the hosts whose addresses are only allowed as glue. For each, one NS that names it
 * is needed, if there is any apart from those at `needed.below`, which are known.
 */
export function possibleGlue(needed: RecordsNeeded, apex: Name, found: readonly CustomerRecord[]): Name[] {
  const cuts = new Set(needed.below);
  const names = new Set(needed.at);
  for (const { name, type } of found) {
    if (type === 'NS') cuts.add(name);
    else if (type === 'A' || type === 'AAAA') names.add(name);
  }
  const isCut = (name: Name) => cuts.has(name);
  return [...names].filter((name) => isCut(name) || [...namesBetween(name, apex)].some(isCut));
}
