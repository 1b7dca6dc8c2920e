// Decides which addresses may be queried. Zone owners choose the addresses of their nameservers, so only addresses that the
// IANA special-purpose registries (RFC 6890, RFC 8190) call globally reachable are allowed, and those in RESOLVER_ALLOW.

import { addressOctets, isInNetwork, type Network, networksOf } from '../../dns/record/network.ts';

const FORBIDDEN_IPV4 = networksOf(
  '0.0.0.0/8', // this network: RFC 791 §3.2
  '10.0.0.0/8', // private: RFC 1918
  '100.64.0.0/10', // shared with carriers: RFC 6598
  '127.0.0.0/8', // loopback: RFC 1122 §3.2.1.3
  '169.254.0.0/16', // link-local: RFC 3927
  '172.16.0.0/12', // private: RFC 1918
  '192.0.0.0/24', // protocol assignments: RFC 6890 §2.1; its anycast addresses do not serve DNS
  '192.0.2.0/24', // documentation: RFC 5737
  '192.88.99.0/24', // 6to4 relays, withdrawn: RFC 7526
  '192.168.0.0/16', // private: RFC 1918
  '198.18.0.0/15', // benchmarks: RFC 2544
  '198.51.100.0/24', // documentation: RFC 5737
  '203.0.113.0/24', // documentation: RFC 5737
  '224.0.0.0/4', // multicast: RFC 5771
  '240.0.0.0/4', // reserved: RFC 1112 §4; with 255.255.255.255, RFC 919 §7
);

/** All space allocated for global unicast (RFC 4291 §2.4): not ::1, v4-mapped, fc00::/7, fe80::/10, ff00::/8 … */
const [GLOBAL_IPV6] = networksOf('2000::/3') as [Network];

const FORBIDDEN_IPV6 = networksOf(
  '2001::/23', // protocol assignments, Teredo, benchmarks, ORCHID: RFC 2928, RFC 4380, RFC 5180, RFC 7343
  '2001:db8::/32', // documentation: RFC 3849
  '3fff::/20', // documentation: RFC 9637
);

/** Networks within 2001::/23 that nevertheless have nameservers. */
const [AS112_IPV6] = networksOf('2001:4:112::/48') as [Network]; // RFC 7535

/** Prefixes followed by an IPv4 address to which the packets are delivered. */
const [SIX_TO_FOUR] = networksOf('2002::/16') as [Network]; // RFC 3056 §2
const [NAT64] = networksOf('64:ff9b::/96') as [Network]; // RFC 6052 §2.1

export function isAskable(address: string, allowed: readonly Network[]): boolean {
  const octets = addressOctets(address);
  if (octets === undefined) return false;
  return allowed.some((each) => isInNetwork(each, octets)) || isGloballyReachable(octets);
}

function isGloballyReachable(octets: Uint8Array): boolean {
  if (octets.length === 4) return !FORBIDDEN_IPV4.some((each) => isInNetwork(each, octets));
  // An IPv4 address embedded in IPv6 must itself be globally reachable.
  if (isInNetwork(NAT64, octets)) return isGloballyReachable(octets.subarray(12, 16));
  if (isInNetwork(SIX_TO_FOUR, octets)) return isGloballyReachable(octets.subarray(2, 6));
  if (isInNetwork(AS112_IPV6, octets)) return true;
  return isInNetwork(GLOBAL_IPV6, octets) && !FORBIDDEN_IPV6.some((each) => isInNetwork(each, octets));
}

/** Returns the network of an address, a /24 or /48, as text. Queries to all of its addresses share a limit. */
export function networkOf(address: string): string {
  const octets = addressOctets(address);
  if (octets === undefined) return address;
  const bits = octets.length === 4 ? 24 : 48;
  return `${Buffer.from(octets.subarray(0, bits / 8)).toString('hex')}/${bits}`;
}
