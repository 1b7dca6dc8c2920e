// Converts messages that arrived with XDP for the slow path, whose answers are sent from the UDP sockets.

import { isLinkLocal } from '../answer/client.ts';
import { AF_INET, AF_INET6, IP_PKTINFO, IPPROTO_IP, IPPROTO_IPV6, IPV6_PKTINFO } from '../threads/libc.ts';
import type { SlowFrame } from '../xdp/frame-batch.ts';
import type { SlowPacket } from './slow-packet.ts';
import type { UdpSocket } from './udp-sockets.ts';

const SOCKADDR_IN_BYTES = 16;
const SOCKADDR_IN6_BYTES = 28;

/**
 * Selects the socket that the kernel would have chosen. Returns undefined if there is none.
 *
 * @param zone index of the interface, for link-local addresses
 */
export function packetOf(
  frame: SlowFrame,
  sockets: readonly UdpSocket[],
  zone: number,
): SlowPacket | undefined {
  const { client, clientPort, destination, destinationPort } = frame;
  const ipv6 = client.length === 16;
  const fitting = sockets.filter(
    (one) => one.ipv6 === ipv6 && (one.local === undefined || one.local.port === destinationPort),
  );
  const isOwn = ({ local }: UdpSocket) =>
    local?.address.every((octet, i) => octet === destination[i]) === true;
  const socket = fitting.find(isOwn) ?? fitting.find(({ wildcard }) => wildcard);
  if (socket === undefined) return undefined;
  const name = new Uint8Array(ipv6 ? SOCKADDR_IN6_BYTES : SOCKADDR_IN_BYTES);
  const view = new DataView(name.buffer);
  view.setUint16(0, ipv6 ? AF_INET6 : AF_INET, true);
  view.setUint16(2, clientPort);
  name.set(client, ipv6 ? 8 : 4);
  if (ipv6 && isLinkLocal(client)) view.setUint32(24, zone, true);
  const control = socket.wildcard ? sourceControl(destination) : new Uint8Array(0);
  return { octets: frame.octets, descriptor: socket.descriptor, name, control };
}

/** Returns a control message that makes the address the source of a packet. */
function sourceControl(address: Uint8Array): Uint8Array {
  const ipv6 = address.length === 16;
  const control = new Uint8Array(ipv6 ? 40 : 32); // struct cmsghdr with in6_pktinfo or in_pktinfo, padded
  const view = new DataView(control.buffer);
  view.setUint32(0, ipv6 ? 36 : 28, true);
  view.setInt32(8, ipv6 ? IPPROTO_IPV6 : IPPROTO_IP, true);
  view.setInt32(12, ipv6 ? IPV6_PKTINFO : IP_PKTINFO, true);
  control.set(address, ipv6 ? 16 : 20);
  return control;
}
