// The socket address to which packets for a nameserver address are sent.

import { printAddress } from '../../dns/record/ip-address.ts';
import { addressOctets } from '../../dns/record/network.ts';

export interface Target {
  readonly family: 4 | 6;
  /** Address in the kernel's notation, so that the source of a datagram can be compared. */
  readonly address: string;
  readonly port: number;
}

/** Returns undefined if the text is not an address. */
export function readTarget(address: string, port: number): Target | undefined {
  const octets = addressOctets(address);
  return octets && { family: octets.length === 4 ? 4 : 6, address: printAddress(octets), port };
}
