// Compares the result of a check of our own nameservers with the pool's lists. Each difference is a fault that the operator
// must fix.

import { type Name, printName } from '../../dns/name.ts';
import type { PoolEvidence } from './pool-evidence.ts';

interface ExpectedPool {
  readonly lists: readonly (readonly Name[])[];
  readonly addresses: readonly (readonly string[])[];
}

export interface PoolFault {
  /** The name or address concerned. */
  readonly of: string;
  readonly message: string;
}

export function judgePool({ lists, addresses }: ExpectedPool, evidence: PoolEvidence): PoolFault[] {
  const wantedOf = new Map(
    lists.flatMap((names, at) => names.map((name) => [name, addresses[at] as readonly string[]])),
  );
  const faults: PoolFault[] = [];
  const fault = (of: string, message: string) => faults.push({ of, message });
  for (const { name, addresses: found, isAlias, failure } of evidence.hosts) {
    const of = textOf(name);
    if (failure !== undefined) fault(of, `the lookup of its addresses failed: ${failure}`);
    else if (isAlias) fault(of, 'it is an alias, which is not allowed for a nameserver (RFC 2181 §10.3)');
    else differ(wantedOf.get(name) ?? [], found, (what) => fault(of, what));
  }
  for (const { name, parent, addresses: found, isNeeded } of evidence.glue) {
    const of = textOf(name);
    const where = `the glue in ${textOf(parent)}`;
    if (found.length > 0) differ(wantedOf.get(name) ?? [], found, (what) => fault(of, `${where}: ${what}`));
    else if (isNeeded) fault(of, `${where} is missing: register the name as a host object there`);
  }
  for (const { zone, failure } of evidence.unseen)
    fault(textOf(zone), `its delegation could not be checked: ${failure}`);
  for (const { address, outcome, reason } of evidence.addresses) {
    if (outcome === 'fails') fault(address, `no node of this fleet answers there: ${reason}`);
  }
  return faults;
}

function differ(wanted: readonly string[], found: readonly string[], tell: (what: string) => void): void {
  const missing = wanted.filter((address) => !found.includes(address));
  const surplus = found.filter((address) => !wanted.includes(address));
  if (missing.length > 0) tell(`it lacks ${missing.join(', ')}`);
  if (surplus.length > 0) tell(`it has ${surplus.join(', ')}, which are not in its list`);
}

function textOf(name: Name): string {
  const text = printName(name);
  return text === '.' ? 'the root' : text.slice(0, -1);
}
