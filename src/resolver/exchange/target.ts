// The socket address to which packets for a nameserver address are sent.

import { TextError } from '../../dns/errors.ts';
import { parseIpv4, parseIpv6, printIpv4, printIpv6 } from '../../dns/record/ip-address.ts';

export interface Target {
  readonly family: 4 | 6;
  /** Address in the kernel's notation, so that the source of a datagram can be compared. */
  readonly address: string;
  readonly port: number;
}

/** Returns undefined if the text is not an address. */
export function readTarget(address: string, port: number): Target | undefined {
  try {
    return address.includes(':')
      ? { family: 6, address: printIpv6(parseIpv6(address)), port }
      : { family: 4, address: printIpv4(parseIpv4(address)), port };
  } catch (error) {
    if (error instanceof TextError) return undefined;
    throw error;
  }
}
