// @ts-check
// Decides which addresses an edge may connect to: no private, local or special ones (RFC 6890), unless the operator allows them.
// An IPv4 address embedded in IPv6 is treated as IPv4.

import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';

const SPECIAL = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16', // also the metadata service of clouds
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
];
/** Assigned unicast space, minus the parts that are not for hosts. */
const GLOBAL = '2000::/3';
const SPECIAL6 = ['2001::/23', '2001:db8::/32', '3fff::/20'];

const special = listOf([...SPECIAL, ...SPECIAL6]);
const global6 = listOf([GLOBAL]);

/** @param {readonly string[]} networks */
export function listOf(networks) {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    list.addSubnet(address, Number(bits ?? (family === 'ipv4' ? 32 : 128)), family);
  }
  return list;
}

/**
 * @param {string} address
 * @param {BlockList} allowed
 * @param {BlockList} denied networks that are never contacted, such as the fleet's own edges
 * @returns {boolean}
 */
export function mayConnect(address, allowed, denied) {
  if (isIP(address) === 0 || address.includes('%')) return false;
  const within = isIPv6(address) ? ipv4Within(address) : undefined;
  if (within !== undefined && !mayConnect(within, allowed, denied)) return false;
  const family = isIPv4(address) ? 'ipv4' : 'ipv6';
  if (denied.check(address, family)) return false;
  if (allowed.check(address, family)) return true;
  if (special.check(address, family)) return false;
  return family === 'ipv4' || within !== undefined || global6.check(address, family);
}

/** Returns the IPv4 address in ::ffff:0:0/96, ::/96, 64:ff9b::/96 (RFC 6052), 2002::/16 (RFC 3056). @param {string} address */
function ipv4Within(address) {
  const groups = groupsOf(address);
  const head = groups
    .slice(0, 6)
    .map((group) => group.toString(16))
    .join(':');
  if (['0:0:0:0:0:ffff', '0:0:0:0:0:0', '64:ff9b:0:0:0:0'].includes(head))
    return dotted(groups[6] ?? 0, groups[7] ?? 0);
  return groups[0] === 0x2002 ? dotted(groups[1] ?? 0, groups[2] ?? 0) : undefined;
}

/** @param {number} high @param {number} low */
function dotted(high, low) {
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** @param {string} address */
function groupsOf(address) {
  const plain = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = '', tail] = plain.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - left.length - right.length }, () => '0');
  return [...left, ...zeros, ...right].map((group) => Number.parseInt(group, 16));
}
