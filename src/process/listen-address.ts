// An address with a port in the format of settings and messages: `127.0.0.1:5300`, `[::1]:5300` (RFC 3986 §3.2.2).

import { isIPv4, isIPv6 } from 'node:net';
import { addressOctets } from '../dns/record/network.ts';

export const DNS_PORT = 53;

export interface ListenAddress {
  /** IPv4 or IPv6, without brackets. */
  readonly address: string;
  /** 0 means any free port. */
  readonly port: number;
}

/** Returns undefined if the text is not an address with a port. */
export function parseListenAddress(text: string): ListenAddress | undefined {
  const [, v6, v4, digits] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? [];
  const isAddress = (v4 !== undefined && isIPv4(v4)) || (v6 !== undefined && isIPv6(v6));
  const port = Number(digits);
  return isAddress && port >= 1 && port <= 65535 ? { address: (v4 ?? v6) as string, port } : undefined;
}

/** Parses the address of a DNS server, such as `192.0.2.53`, `192.0.2.53:5353` or `[2001:db8::53]:5353`. */
export function parseServer(text: string): ListenAddress | undefined {
  return addressOctets(text) === undefined ? parseListenAddress(text) : { address: text, port: DNS_PORT };
}

export function printListenAddress({ address, port }: ListenAddress): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
