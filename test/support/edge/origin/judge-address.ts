// Whether an edge may connect to an address: never to a private, loopback, link-local or other special one (RFC 6890),
// unless the operator has allowed it.

import { BlockList, isIPv4, isIPv6 } from 'node:net';

const SPECIAL = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16', // also the metadata of clouds
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/128',
  '::1/128',
  '64:ff9b::/96', // an IPv4 address within (RFC 6052)
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16', // an IPv4 address within (RFC 3056)
  'fc00::/7',
  'fe80::/10',
  'ff00::/8',
];

const special = listOf(SPECIAL);

export function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    list.addSubnet(address, Number(bits ?? (family === 'ipv4' ? 32 : 128)), family);
  }
  return list;
}

export function mayConnect(address: string, allowed: BlockList): boolean {
  const plain = mappedOf(address) ?? address;
  if (!isIPv4(plain) && !isIPv6(plain)) return false;
  const family = isIPv4(plain) ? 'ipv4' : 'ipv6';
  return allowed.check(plain, family) || !special.check(plain, family);
}

/** The IPv4 address within ::ffff:0:0/96, however it is written (RFC 4291 §2.5.5.2). */
function mappedOf(address: string): string | undefined {
  if (!isIPv6(address)) return undefined;
  const host = new URL(`http://[${address.replace(/%.*$/, '')}]`).hostname.slice(1, -1);
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(host) ?? [];
  if (high === undefined || low === undefined) return undefined;
  const [a, b] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [a >> 8, a & 255, b >> 8, b & 255].join('.');
}
