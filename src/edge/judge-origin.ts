// Decides which origins an edge may connect to. Customers choose origins, but edges are inside the operator's network:
// private addresses would give customers access to internal services (SSRF), and an edge as origin would be a loop. Edges
// check resolved addresses against the same list.

import { addressOctets, isInNetwork, type Network, networksOf } from '../dns/record/network.ts';

/**
 * From the IANA special-purpose registries (RFC 6890, RFC 8190). Documentation networks (RFC 5737, RFC 3849) are allowed,
 * because no host is reachable there and examples and tests use them.
 */
const FORBIDDEN = networksOf(
  '0.0.0.0/8', // this network: RFC 791 §3.2
  '10.0.0.0/8', // private: RFC 1918
  '100.64.0.0/10', // shared with carriers: RFC 6598
  '127.0.0.0/8', // loopback: RFC 1122 §3.2.1.3
  '169.254.0.0/16', // link-local, cloud metadata services: RFC 3927
  '172.16.0.0/12', // private: RFC 1918
  '192.0.0.0/24', // protocol assignments: RFC 6890 §2.1
  '192.88.99.0/24', // 6to4 relays: RFC 7526
  '192.168.0.0/16', // private: RFC 1918
  '198.18.0.0/15', // benchmarks: RFC 2544
  '224.0.0.0/4', // multicast: RFC 5771
  '240.0.0.0/4', // reserved, and broadcast: RFC 1112 §4, RFC 919 §7
  '2001::/23', // protocol assignments, Teredo, ORCHID: RFC 2928, RFC 4380
);

/** All space allocated for global unicast (RFC 4291 §2.4): not ::1, fc00::/7, fe80::/10, ff00::/8 … */
const [GLOBAL_IPV6] = networksOf('2000::/3') as [Network];

/** Prefixes with an embedded IPv4 address, to which packets are finally delivered, and its offset. */
const EMBEDDING: readonly (readonly [Network, number])[] = (
  [
    ['::ffff:0:0/96', 12], // RFC 4291 §2.5.5.2
    ['::/96', 12], // IPv4-compatible, and ::1: RFC 4291 §2.5.5.1
    ['64:ff9b::/96', 12], // NAT64: RFC 6052 §2.1
    ['2002::/16', 2], // 6to4: RFC 3056 §2
  ] as const
).map(([text, at]) => [networksOf(text)[0] as Network, at]);

interface OriginRules {
  /** Networks that are allowed although they are not public. */
  readonly allowed: readonly Network[];
  /** Addresses of our edges. */
  readonly edges: readonly string[];
}

const DOCUMENTATION = networksOf('192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32');

/** True for documentation addresses, such as the default addresses in settings. */
export function isExample(address: string): boolean {
  const octets = addressOctets(address);
  return octets !== undefined && DOCUMENTATION.some((network) => isInNetwork(network, octets));
}

/** Returns why an edge may not connect there, or undefined if it may. Names are checked after an edge has resolved them. */
export function judgeOrigin(host: string, { allowed, edges }: OriginRules): string | undefined {
  if (/(^|\.)localhost$/.test(host)) return 'localhost is the edge itself'; // RFC 6761 §6.3
  const octets = addressOctets(host);
  if (octets === undefined) return undefined;
  const inside = embedded(octets);
  const forms = inside === undefined ? [octets] : [octets, inside];
  const own = edges.flatMap((edge) => addressOctets(edge) ?? []);
  if (forms.some((form) => own.some((edge) => Buffer.compare(edge, form) === 0)))
    return 'this is an address of an edge';
  if (allowed.some((network) => isInNetwork(network, inside ?? octets) || isInNetwork(network, octets)))
    return undefined;
  return isPublic(octets) ? undefined : 'this address is not public';
}

function isPublic(octets: Uint8Array): boolean {
  const inside = embedded(octets);
  // An address embedded in IPv6 must itself be public.
  if (inside !== undefined) return isPublic(inside);
  if (octets.length === 16 && !isInNetwork(GLOBAL_IPV6, octets)) return false;
  return !FORBIDDEN.some((network) => isInNetwork(network, octets));
}

function embedded(octets: Uint8Array): Uint8Array | undefined {
  const found = EMBEDDING.find(([network]) => isInNetwork(network, octets));
  return found === undefined ? undefined : octets.subarray(found[1], found[1] + 4);
}
