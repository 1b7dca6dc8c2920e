// Checks the addresses of a pool's lists. They must be in different networks, so that no single network is a domain's
// only path to its nameservers (RFC 2182 §3.1).

import { parseIpv4, parseIpv6, printIpv6 } from '../../dns/record/ip-address.ts';

/** Returns the address as answers print it. Returns undefined for other text. */
export function canonicalAddress(text: string): string | undefined {
  try {
    if (/^::ffff:[\d.]+$/i.test(text)) return undefined; // an IPv4 address in another notation (RFC 4291 §2.5.5.2)
    return text.includes(':') ? printIpv6(parseIpv6(text)) : parseIpv4(text).join('.');
  } catch {
    return undefined;
  }
}

/** Returns the first /24 or /48 in which two lists have addresses. `a` and `b` are list numbers from 1. */
export function findSharedNetwork(
  lists: readonly (readonly string[])[],
): { readonly network: string; readonly a: number; readonly b: number } | undefined {
  const seen = new Map<string, number>();
  for (const [at, addresses] of lists.entries()) {
    for (const network of new Set(addresses.map(networkOf))) {
      const other = seen.get(network);
      if (other !== undefined) return { network, a: other + 1, b: at + 1 };
      seen.set(network, at);
    }
  }
  return undefined;
}

function networkOf(address: string): string {
  if (!address.includes(':')) return `${address.split('.').slice(0, 3).join('.')}.0/24`;
  const octets = parseIpv6(address).fill(0, 6);
  return `${printIpv6(octets)}/48`;
}
