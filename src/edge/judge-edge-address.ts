// Classifies an edge's address: operators register it, and it is published to all visitors.

import { addressOctets, isInNetwork, networksOf } from '../dns/record/network.ts';
import { judgeOrigin } from './judge-origin.ts';

const LOOPBACK = networksOf('127.0.0.0/8', '::1/128'); // RFC 1122 §3.2.1.3, RFC 4291 §2.5.3

/** Reachable only within one network, which may be intended. */
const PRIVATE = networksOf(
  '10.0.0.0/8', // RFC 1918, as the next two
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10', // shared with carriers: RFC 6598
  '198.18.0.0/15', // benchmarks: RFC 2544
  'fc00::/7', // unique local: RFC 4193
);

/** `nowhere`: link-local, multicast, unspecified or reserved, or an IPv6 address with an embedded IPv4 address. */
type AddressReach = 'public' | 'private' | 'loopback' | 'nowhere';

export function judgeEdgeAddress(address: string): AddressReach {
  const octets = addressOctets(address);
  if (octets === undefined) return 'nowhere';
  if (LOOPBACK.some((network) => isInNetwork(network, octets))) return 'loopback';
  if (PRIVATE.some((network) => isInNetwork(network, octets))) return 'private';
  return judgeOrigin(address, { allowed: [], edges: [] }) === undefined ? 'public' : 'nowhere';
}
