// The client that asks: its transport, and its address as octets, for cookies and rate limits.

import { parseIpv6 } from '../../dns/record/ip-address.ts';
import type { TransportIndex } from './query-counters.ts';

/** One object for each thread: whoever receives a query fills it before the answer is made. */
export class Client {
  transport: TransportIndex = 0;
  /** Where the address stands, among whatever else. */
  address: Uint8Array = new Uint8Array(4);
  at = 0;
  /** The length of the address: 4 or 16. */
  octets = 4;

  /** The address is the whole of `address`. */
  set(transport: TransportIndex, address: Uint8Array): void {
    this.transport = transport;
    this.address = address;
    this.at = 0;
    this.octets = address.length;
  }
}

/** Gives the octets of an address as Node prints it: IPv4, or IPv6 that may end in a zone (`fe80::1%eth0`). */
export function addressOctets(text: string): Uint8Array {
  if (text.includes(':')) {
    const zone = text.indexOf('%');
    return parseIpv6(zone < 0 ? text : text.slice(0, zone));
  }
  const octets = new Uint8Array(4);
  let at = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (char === 0x2e) at++;
    else octets[at] = (octets[at] as number) * 10 + char - 0x30;
  }
  return octets;
}

/** Whether the address of 4 or 16 octets at `at` is in 127.0.0.0/8, or ::1. */
export function isLoopback(address: Uint8Array, at = 0, octets: number = address.length): boolean {
  if (octets === 4) return address[at] === 127;
  for (let i = 0; i < 15; i++) if (address[at + i] !== 0) return false;
  return address[at + 15] === 1;
}
