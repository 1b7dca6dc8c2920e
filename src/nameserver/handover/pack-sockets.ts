// Packs the sockets of a process into messages, because the kernel passes a limited number of descriptors in each.

import type { InheritedAddress } from './inherited.ts';
import { MAX_DESCRIPTORS } from './pass-descriptors.ts';

/** The sockets that a process answers on, as descriptors. */
export interface OpenSockets {
  readonly addresses: readonly InheritedAddress[];
  /** The listening socket of the health page. */
  readonly health: number;
}

/** Each number of `addresses`, and `health`, is an index into the descriptors of the message. */
export interface SocketsText {
  readonly addresses: readonly InheritedAddress[];
  /** Only in the first message. */
  readonly health?: number;
  /** True if the successor must request another message. */
  readonly more?: boolean;
}

/** Returns at least one message. All sockets of an address are in the same message, because DNS_THREADS is at most 100. */
export function packSockets({ addresses, health }: OpenSockets) {
  const groups: InheritedAddress[][] = [[]];
  let count = 1; // the health page
  for (const address of addresses) {
    const more = address.udp.length + 1;
    if (count + more > MAX_DESCRIPTORS) {
      groups.push([]);
      count = 0;
    }
    groups.at(-1)?.push(address);
    count += more;
  }
  return groups.map((group, i) => {
    const descriptors: number[] = [];
    const index = (descriptor: number) => descriptors.push(descriptor) - 1;
    const text: SocketsText = {
      ...(i === 0 && { health: index(health) }),
      addresses: group.map(({ listen, udp, tcp }) => ({ listen, udp: udp.map(index), tcp: index(tcp) })),
      ...(i < groups.length - 1 && { more: true }),
    };
    return { text, descriptors };
  });
}
