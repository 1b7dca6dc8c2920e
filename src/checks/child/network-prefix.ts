// Returns the network of an address: the smallest prefix that is commonly announced on its own, used to detect shared
// faults and correlated lies.

import { parseIpv4, parseIpv6 } from '../../dns/record/ip-address.ts';

/** Returns the /24 or /48 that contains the address, as text. */
export function prefixOf(address: string): string {
  if (!address.includes(':')) return `${[...parseIpv4(address).subarray(0, 3), 0].join('.')}/24`;
  const octets = parseIpv6(address);
  const groups = [0, 2, 4].map((i) =>
    (((octets[i] as number) << 8) | (octets[i + 1] as number)).toString(16),
  );
  return `${groups.join(':')}::/48`;
}
