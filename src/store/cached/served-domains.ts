// By which domains an edge serves hosts: the longest name that a host ends with, if the edge's region serves it.

import { namesAbove } from '../../edge/requests/host-names.ts';
import { loadHostDomains } from '../edges/load-host-domains.ts';
import type { Database } from '../postgres/database.ts';

/** Hosts that the edge does not serve are left out. Undefined: they have more names above them than one call may ask for. */
export async function findServedDomains(
  db: Database,
  region: string,
  hosts: ReadonlySet<string>,
  mostNames: number,
): Promise<ReadonlyMap<string, number> | undefined> {
  const names = new Set([...hosts].flatMap(namesAbove));
  if (names.size > mostNames) return undefined;
  const domains = await loadHostDomains(db, region, [...names]);
  const served = new Map<string, number>();
  for (const host of hosts) {
    const name = namesAbove(host).find((each) => domains.has(each));
    const domain = name === undefined ? undefined : domains.get(name);
    if (domain?.isHere === true) served.set(host, domain.id);
  }
  return served;
}
