// The addresses that a referral gives of nameservers inside the zone that it leads to. Pure.

import { parseIpv4, parseIpv6 } from '../dns/ip-address.ts';
import { isWithin, type Name } from '../dns/name.ts';
import { TYPE } from '../dns/type-codes.ts';
import type { Found } from './found-records.ts';

interface Glue {
  readonly name: Name;
  readonly address: string;
  readonly ttl: number;
}

export function glueSets(cut: Name, ns: readonly Name[], glue: readonly Glue[]): Found[] {
  const sets: Found[] = [];
  for (const type of [TYPE.A, TYPE.AAAA]) {
    for (const host of ns.filter((each) => isWithin(each, cut))) {
      const own = glue.filter(
        ({ name, address }) => name === host && isIpv6(address) === (type === TYPE.AAAA),
      );
      if (own.length === 0) continue;
      const rdata = own.map(({ address }) => (type === TYPE.A ? parseIpv4(address) : parseIpv6(address)));
      sets.push({ name: host, type, ttl: Math.min(...own.map((each) => each.ttl)), rdata });
    }
  }
  return sets;
}

function isIpv6(address: string): boolean {
  return address.includes(':');
}
