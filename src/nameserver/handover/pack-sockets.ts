// Packs the sockets of a process into messages, because the kernel passes a limited number of descriptors in each.

import type { XdpShare } from '../xdp/xdp.ts';
import type { InheritedAddress } from './inherited.ts';
import { MAX_DESCRIPTORS } from './pass-descriptors.ts';

/** The sockets that a process answers on, as descriptors. */
export interface OpenSockets {
  readonly addresses: readonly InheritedAddress[];
  /** The listening socket of the health page. */
  readonly health: number;
  /** The interfaces at which the process uses XDP. */
  readonly xdp?: readonly XdpShare[];
}

/** Each descriptor in `addresses` and `xdp`, and `health`, is an index into the descriptors of the message. */
export interface SocketsText {
  readonly addresses: readonly InheritedAddress[];
  /** Older versions do not send it. */
  readonly xdp?: readonly XdpShare[];
  /** Only in the first message. */
  readonly health?: number;
  /** True if the successor must request another message. */
  readonly more?: boolean;
}

/**
 * Returns at least one message. All descriptors of an address or interface are in the same message, because there are at
 * most 100 threads.
 */
export function packSockets({ addresses, health, xdp = [] }: OpenSockets) {
  const groups: { addresses: InheritedAddress[]; xdp: XdpShare[] }[] = [{ addresses: [], xdp: [] }];
  let count = 1; // the health page
  const groupFor = (more: number) => {
    if (count + more > MAX_DESCRIPTORS) {
      groups.push({ addresses: [], xdp: [] });
      count = 0;
    }
    count += more;
    return groups.at(-1);
  };
  for (const address of addresses) groupFor(address.udp.length + 1)?.addresses.push(address);
  for (const one of xdp) groupFor(2 * one.queues.length + 1)?.xdp.push(one);
  return groups.map((group, i) => {
    const descriptors: number[] = [];
    const index = (descriptor: number) => descriptors.push(descriptor) - 1;
    const text: SocketsText = {
      ...(i === 0 && { health: index(health) }),
      addresses: group.addresses.map(({ listen, udp, tcp }) => ({
        listen,
        udp: udp.map(index),
        tcp: index(tcp),
      })),
      ...(group.xdp.length > 0 && {
        xdp: group.xdp.map((one) => ({
          ...one,
          link: index(one.link),
          queues: one.queues.map(({ socket, frames }) => ({ socket: index(socket), frames: index(frames) })),
        })),
      }),
      ...(i < groups.length - 1 && { more: true }),
    };
    return { text, descriptors };
  });
}
