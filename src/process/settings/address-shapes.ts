// Formats of addresses, networks and names in settings.

import { isIPv4, isIPv6 } from 'node:net';
import * as z from 'zod/mini';
import { foldCase, type Name, parseName, printName, ROOT } from '../../dns/name.ts';
import { type ListenAddress, parseListenAddress, parseServer } from '../listen-address.ts';
import { list, type Shape, shape } from './shapes.ts';

export const listenAddress: Shape<ListenAddress> = shape(
  'addresses like 127.0.0.1:5300 or [::1]:5300',
  parseListenAddress,
);

/** Servers to query: `host`, `host:port`, `[v6]:port`. */
export const servers = shape('addresses like 9.9.9.9, 9.9.9.9:53 or [2620:fe::fe]:53, or off', (text) => {
  if (text === '' || text === 'off') return [];
  const found = text.split(',').map((item) => parseServer(item.trim()));
  return found.every((server) => server !== undefined) ? found : undefined;
});

/** CIDR notation. */
export const networks = list(
  shape('networks like 10.0.0.0/8 or fd00::/8', (network) => {
    const [address = '', length = '', ...more] = network.split('/');
    const most = isIPv4(address) ? 32 : isUnscoped(address) ? 128 : -1;
    return /^\d{1,3}$/.test(length) && Number(length) <= most && more.length === 0 ? network : undefined;
  }),
);

/** True for addresses without the zone of a link-local address. */
function isUnscoped(address: string): boolean {
  return isIPv4(address) || (isIPv6(address) && !address.includes('%'));
}

export const address = shape('an IPv4 or IPv6 address', (text) => (isUnscoped(text) ? text : undefined));

/** Without duplicates. An empty text is an empty list. */
export function addressesOf(family: 'IPv4' | 'IPv6'): Shape<string[]> {
  const is = family === 'IPv4' ? isIPv4 : isIPv6;
  const one = shape(`${family} addresses`, (text) => (is(text) && isUnscoped(text) ? text : undefined));
  const distinct = z.array(z.string()).check(z.refine(isDistinct, `each ${family} address once`));
  return z.pipe(list(one, { mayBeEmpty: true }), distinct);
}

/** Additional host names of a process, in lower case. */
export const hosts = list(
  shape('host names like node1.example.net', (text) => {
    const host = text.toLowerCase();
    return host.length <= 253 && /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(host) ? host : undefined;
  }),
);

const hostName = shape('host names like ns1.example.net', readHostName);

/** Returns folded text with a trailing dot, or undefined if a nameserver cannot have this name. */
export function readHostName(text: string): string | undefined {
  const name = /^[a-z0-9-]+(\.[a-z0-9-]+)+\.?$/i.test(text) ? readName(text) : undefined;
  return name && printName(name);
}

const nameserverSet = z.pipe(
  list(hostName),
  z.array(z.string()).check(z.refine(isDistinct, 'each name once in a set')),
);
const distinctSets = z
  .array(z.array(z.string()))
  .check(z.refine((sets) => isDistinct(sets.map((set) => [...set].sort().join())), 'sets that differ'));

/** Names separated by commas, sets separated by `;`. */
export const nameserverSets: Shape<string[][]> = z.pipe(
  list(nameserverSet, { separator: ';' }),
  distinctSets,
);

/** A mailbox in the form of a name (RFC 1035 §3.3.13). */
export const mailbox = shape(
  'a name like hostmaster.example.net, with a dot for the @ of the mail address',
  (text) => {
    const name = /(?<!\\)@/.test(text) ? undefined : readName(text);
    return name && printName(name);
  },
);

/** Parses a name with or without a trailing dot, and folds it. Returns undefined for the root or if it is not a name. */
function readName(text: string): Name | undefined {
  try {
    const name = foldCase(parseName(text.endsWith('.') ? text : `${text}.`));
    return name === ROOT ? undefined : name;
  } catch {
    return undefined;
  }
}

function isDistinct(items: readonly string[]): boolean {
  return new Set(items).size === items.length;
}
