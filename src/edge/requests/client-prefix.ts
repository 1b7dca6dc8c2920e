// The address of a visitor, in one form, and the part of it that is kept: /24 of IPv4, /48 of IPv6.

import { printIpv4, printIpv6 } from '../../dns/record/ip-address.ts';
import { addressOctets } from '../../dns/record/network.ts';

/** An IPv6 address with a zone has more; no address has as many. */
const MOST_CHARACTERS = 64;
const MAPPED = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];
const KEPT_OCTETS = { 4: 3, 16: 6 } as const;

/** 4 or 16 octets; undefined: the text is no address. IPv4 within IPv6 is IPv4. */
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
