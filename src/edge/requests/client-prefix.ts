// Normalizes a visitor's address, and truncates it to the stored prefix: /24 for IPv4, /48 for IPv6.

import { printIpv4, printIpv6 } from '../../dns/record/ip-address.ts';
import { addressOctets } from '../../dns/record/network.ts';

/** An IPv6 address with a zone may be longer, but addresses never have this many characters. */
const MOST_CHARACTERS = 64;
const MAPPED = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];
const KEPT_OCTETS = { 4: 3, 16: 6 } as const;

/** Returns 4 or 16 octets, or undefined if the text is not an address. IPv4 embedded in IPv6 becomes IPv4. */
export function clientOctets(text: string): Uint8Array | undefined {
  if (text.length > MOST_CHARACTERS) return undefined;
  const octets = addressOctets(text);
  const isMapped = octets?.length === 16 && MAPPED.every((octet, i) => octets[i] === octet);
  return isMapped ? octets?.subarray(12) : octets;
}

export function printClient(octets: Uint8Array, isWhole: boolean): string {
  const print = octets.length === 4 ? printIpv4 : printIpv6;
  if (isWhole) return print(octets);
  const kept = KEPT_OCTETS[octets.length as 4 | 16];
  return `${print(octets.map((octet, i) => (i < kept ? octet : 0)))}/${kept * 8}`;
}
