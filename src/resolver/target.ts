// Where packets to one nameserver address go.

import { TextError } from '../dns/errors.ts';
import { parseIpv4, parseIpv6, printIpv4, printIpv6 } from '../dns/ip-address.ts';

export interface Target {
  readonly family: 4 | 6;
  /** As the kernel prints it, so that the source of a datagram can be compared. */
  readonly address: string;
  readonly port: number;
}

/** Undefined for text that is no address. */
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
