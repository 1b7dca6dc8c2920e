// The network of an address, as far as faults and liars are concerned: what is announced alone at the least.

import { parseIpv4, parseIpv6 } from '../../dns/record/ip-address.ts';

/** The /24 or /48 of an address, as text. */
export function prefixOf(address: string): string {
  if (!address.includes(':')) return `${[...parseIpv4(address).subarray(0, 3), 0].join('.')}/24`;
  const octets = parseIpv6(address);
  const groups = [0, 2, 4].map((i) =>
    (((octets[i] as number) << 8) | (octets[i + 1] as number)).toString(16),
  );
  return `${groups.join(':')}::/48`;
}
