// Finds the addresses in a referral for nameservers inside the delegated zone.

import { isWithin, type Name } from '../../dns/name.ts';
import { parseIpv4, parseIpv6 } from '../../dns/record/ip-address.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { MAX_RECORDS } from './classify-reply.ts';
import type { ScannedSet } from './scanned-records.ts';

interface Glue {
  readonly name: Name;
  readonly address: string;
  readonly ttl: number;
}

export function glueSets(cut: Name, ns: readonly Name[], glue: readonly Glue[]): ScannedSet[] {
  const sets: ScannedSet[] = [];
  const byName = new Map<Name, Glue[]>();
  for (const each of glue) {
    const beside = byName.get(each.name);
    if (beside === undefined) byName.set(each.name, [each]);
    else beside.push(each);
  }
  for (const type of [TYPE.A, TYPE.AAAA]) {
    for (const host of ns.filter((each) => isWithin(each, cut))) {
      const own = (byName.get(host) ?? []).filter(({ address }) => isIpv6(address) === (type === TYPE.AAAA));
      if (own.length === 0 || own.length > MAX_RECORDS) continue;
      const rdata = own.map(({ address }) => (type === TYPE.A ? parseIpv4(address) : parseIpv6(address)));
      sets.push({ name: host, type, ttl: Math.min(...own.map((each) => each.ttl)), rdata });
    }
  }
  return sets;
}

function isIpv6(address: string): boolean {
  return address.includes(':');
}
