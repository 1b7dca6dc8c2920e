// The client of a query: its transport, and its address in octets for cookies and rate limits.

import { parseIpv6 } from '../../dns/record/ip-address.ts';
import type { TransportIndex } from './transports.ts';

/** One object per thread. The receiver of a query fills it before the answer is made. */
export class Client {
  transport: TransportIndex = 0;
  /** The buffer that contains the address, starting at `at`. */
  address: Uint8Array = new Uint8Array(4);
  at = 0;
  /** Length of the address: 4 or 16. */
  octets = 4;

  /** @param address contains the address and nothing else */
  set(transport: TransportIndex, address: Uint8Array): void {
    this.transport = transport;
    this.address = address;
    this.at = 0;
    this.octets = address.length;
  }
}

/** Parses an address as Node prints it: IPv4, or IPv6 with an optional zone (`fe80::1%eth0`). */
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

/** Returns true if the address of 4 or 16 octets at `at` is in 127.0.0.0/8 or is ::1. */
export function isLoopback(address: Uint8Array, at = 0, octets: number = address.length): boolean {
  if (octets === 4) return address[at] === 127;
  for (let i = 0; i < 15; i++) if (address[at + i] !== 0) return false;
  return address[at + 15] === 1;
}

/** Returns true if the address of 16 octets at `at` is in fe80::/10. */
export function isLinkLocal(address: Uint8Array, at = 0): boolean {
  return address[at] === 0xfe && ((address[at + 1] as number) & 0xc0) === 0x80;
}
