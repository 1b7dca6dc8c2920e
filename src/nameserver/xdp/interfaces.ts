// Reads the properties of network interfaces from the system (sysfs, ethtool).

import { readdirSync, readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import type { ListenAddress } from '../../process/listen-address.ts';
import { addressOctets, isLinkLocal, isLoopback } from '../answer/client.ts';
import { AF_INET, SOCK_CLOEXEC, SOCK_DGRAM } from '../threads/libc.ts';
import type { XdpKernel } from './kernel.ts';
import type { Target } from './packet-filter.ts';

const ROOT = '/sys/class/net';

/** Returns undefined if the interface does not exist. */
export function indexOf(name: string): number | undefined {
  return readNumber(name, 'ifindex');
}

export function mtuOf(name: string): number | undefined {
  return readNumber(name, 'mtu');
}

/** Returns the number of receive queues: 0 if the interface does not exist. */
export function countQueues(name: string): number {
  return list(`${ROOT}/${name}/queues`).filter((entry) => entry.startsWith('rx-')).length;
}

const ARPHRD_ETHER = 1;
const UPPER = 'upper_';

/** Returns the hardware address, or undefined for loopback, tunnels and other interfaces without Ethernet frames. */
export function macOf(name: string): Uint8Array | undefined {
  if (readNumber(name, 'type') !== ARPHRD_ETHER) return undefined;
  return Buffer.from(read(`${ROOT}/${name}/address`).trim().replaceAll(':', ''), 'hex');
}

/** Returns the ids of the VLAN interfaces on top of an interface, or on top of a bond or bridge that it belongs to. */
export function vlansOf(name: string): number[] {
  const uppers = list(`${ROOT}/${name}`).filter((entry) => entry.startsWith(UPPER));
  return uppers.flatMap((entry) => {
    const upper = entry.slice(UPPER.length);
    const [, vlan] = /VID: (\d+)/.exec(read(`/proc/net/vlan/${upper}`)) ?? [];
    return vlan === undefined ? vlansOf(upper) : [Number(vlan)];
  });
}

const SIOCETHTOOL = 0x8946;
const ETHTOOL_GET_FLAGS = 0x25;
const FLAG_STRIPS_TAGS = 1 << 8; // ETH_FLAG_RXVLAN
const NAME_BYTES = 16;
const IFREQ_BYTES = 40;

/** Returns true if the hardware removes the VLAN tags of received frames. */
export function stripsTags(kernel: XdpKernel, name: string): boolean {
  const value = Uint32Array.of(ETHTOOL_GET_FLAGS, 0); // struct ethtool_value
  const request = new Uint8Array(IFREQ_BYTES);
  request.set(Buffer.from(name));
  const address = kernel.addressOf(new Uint8Array(value.buffer));
  new DataView(request.buffer).setBigUint64(NAME_BYTES, address, true);
  const socket = kernel.socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const isRead = kernel.ioctl(socket, SIOCETHTOOL, request) === 0;
  kernel.close(socket);
  return isRead && ((value[1] as number) & FLAG_STRIPS_TAGS) !== 0;
}

/**
 * Returns the addresses of this machine that the node listens on, except loopback addresses. Packets for an address may
 * arrive at any interface (an anycast address usually belongs to a loopback interface), except for link-local ones.
 */
export function targetsAt(name: string, listen: readonly ListenAddress[]): Target[] {
  const targets = new Map<string, Target>();
  const own = Object.entries(networkInterfaces()).flatMap(([of, all]) =>
    (all ?? []).map(({ address }) => ({ address, of })),
  );
  for (const { address: text, port } of listen) {
    const wanted = addressOctets(text);
    const isWildcard = wanted.every((octet) => octet === 0);
    for (const { address, of } of own) {
      const octets = addressOctets(address);
      if (octets.length !== wanted.length || isLoopback(octets)) continue;
      if (octets.length === 16 && isLinkLocal(octets) && of !== name) continue;
      if (isWildcard || octets.join() === wanted.join())
        targets.set(`${octets.join()} ${port}`, { address: octets, port });
    }
  }
  return [...targets.values()];
}

function readNumber(name: string, file: string): number | undefined {
  const text = read(`${ROOT}/${name}/${file}`);
  return text === '' ? undefined : Number(text);
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function list(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
