// Creates evidence of a child check: a healthy domain with a test's changes.

import type {
  AddressProbe,
  ChildEvidence,
  ChildServer,
  ProbeReply,
} from '../../../src/checks/child/evidence.ts';
import { type Name, parseName } from '../../../src/dns/name.ts';

const DOMAIN = parseName('example.com.');
export const NS1 = parseName('ns1.example.com.');
export const NS2 = parseName('ns2.example.com.');

const MNAME = parseName('ns1.example.com.');
const RNAME = parseName('hostmaster.example.com.');

export function soaReply(
  serial = 1,
  timers: { refresh?: number; retry?: number; expire?: number; minimum?: number } = {},
): ProbeReply {
  const healthy = { refresh: 14_400, retry: 3600, expire: 1_209_600, minimum: 3600 };
  return { outcome: 'answer', soa: { mname: MNAME, rname: RNAME, serial, ...healthy, ...timers } };
}

export function madeServer(name: Name, addresses: string[], change: Partial<ChildServer> = {}): ChildServer {
  return {
    name,
    isAtParent: true,
    isInZone: true,
    glue: addresses,
    found: { kind: 'found', addresses },
    ...change,
  };
}

export function madeProbe(
  address: string,
  servers: readonly Name[],
  change: Partial<AddressProbe> = {},
): AddressProbe {
  const ns: ProbeReply = { outcome: 'answer', ns: [NS1, NS2] };
  return {
    address,
    servers,
    isPrivate: false,
    soa: soaReply(),
    ns,
    tcp: soaReply(),
    edns: 'works',
    ...change,
  };
}

/** Two servers with both families, in two networks. */
export function madeChild(change: Partial<ChildEvidence> = {}): ChildEvidence {
  const [a, b] = [
    ['5.3.0.1', '2a0b:3::1'],
    ['5.4.0.1', '2a0b:4::1'],
  ] as [string[], string[]];
  return {
    domain: DOMAIN,
    parent: parseName('com.'),
    servers: [madeServer(NS1, a), madeServer(NS2, b)],
    addresses: [...a.map((each) => madeProbe(each, [NS1])), ...b.map((each) => madeProbe(each, [NS2]))],
    failure: undefined,
    isComplete: true,
    hasIpv6: true,
    queries: 12,
    startedAt: 1000,
    finishedAt: 2000,
    ...change,
  };
}
