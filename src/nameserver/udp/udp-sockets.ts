// The sockets of the UDP threads: one per address and thread. The system distributes the clients among them (SO_REUSEPORT).
// The main thread owns the sockets, so they stay open if a thread dies, and its replacement continues with them.

import { networkInterfaces } from 'node:os';
import { parseIpv4, parseIpv6, printIpv4, printIpv6 } from '../../dns/record/ip-address.ts';
import { type ListenAddress, printListenAddress } from '../../process/listen-address.ts';
import { addressOctets } from '../answer/client.ts';
import { findInherited, type InheritedAddress } from '../handover/inherited.ts';
import {
  AF_INET,
  AF_INET6,
  IP_MTU_DISCOVER,
  IP_PKTINFO,
  IPPROTO_IP,
  IPPROTO_IPV6,
  IPV6_MTU_DISCOVER,
  IPV6_RECVPKTINFO,
  IPV6_V6ONLY,
  type Libc,
  PMTUDISC_PROBE,
  SHUT_RD,
  SO_RCVBUF,
  SO_RCVBUFFORCE,
  SO_RCVTIMEO,
  SO_REUSEPORT,
  SO_SNDTIMEO,
  SOCK_CLOEXEC,
  SOCK_DGRAM,
  SOL_SOCKET,
  SystemError,
} from '../threads/libc.ts';

import { type SlowPacket, sendAnswer } from './slow-packet.ts';

export interface UdpListener {
  /** The addresses in the requested order, with ports filled in. */
  readonly addresses: readonly ListenAddress[];
  close(): Promise<void>;
}

export interface UdpSocket {
  readonly descriptor: number;
  readonly ipv6: boolean;
  /** True if the socket receives for every address of the machine, so that each answer has to set its source address. */
  readonly wildcard: boolean;
  /** The address that the socket is bound to. */
  readonly local?: { readonly address: Uint8Array; readonly port: number } | undefined;
}

export interface UdpSockets {
  /** The addresses in the requested order, with ports filled in. */
  readonly addresses: readonly ListenAddress[];
  /** For each thread, at least one socket per address. */
  readonly ofThread: readonly (readonly UdpSocket[])[];
  /** Returns the descriptors of each address, for another process. */
  share(): readonly (readonly number[])[];
  /**
   * Ends all current and later receives with empty packets. If another process may share the sockets, does nothing,
   * because that process would get empty packets too; receives then end at their time limit.
   */
  wake(): void;
  /** Answers a packet that one of these sockets has received. Returns false if the answer cannot be sent. */
  sendAnswer(packet: SlowPacket, answer: Uint8Array): boolean;
  close(): void;
}

const RECEIVE_BUFFER_BYTES = 1 << 20;
/** Maximum wait of a call. At this interval, a thread checks whether it must end. */
export const WAIT_MS = 100;

const SOCKADDR_IN_BYTES = 16;
const SOCKADDR_IN6_BYTES = 28;

/** Listens on all addresses. If one of them fails, throws and listens on none. */
export function openUdpSockets(
  libc: Libc,
  addresses: readonly ListenAddress[],
  threads: number,
  inherited: readonly InheritedAddress[] = [],
): UdpSockets {
  const open: number[] = [];
  const bound: ListenAddress[] = [];
  const ofAddress: number[][] = [];
  let isShared = inherited.length > 0;
  const ofThread: UdpSocket[][] = Array.from({ length: threads }, () => []);
  const close = () => {
    for (const descriptor of open.splice(0)) libc.close(descriptor);
  };
  try {
    for (const wanted of addresses) {
      const { listen, udp } = findInherited(inherited, wanted) ?? { listen: wanted, udp: [] };
      let address = listen;
      const before = open.length;
      // All inherited sockets must be read, because each holds packets. If there are more sockets than threads, a
      // thread has several.
      for (const [i, descriptor] of udp.entries()) {
        open.push(descriptor);
        ofThread[i % threads]?.push({ descriptor, ...kindOf(address), local: localOf(address) });
      }
      for (const [i, sockets] of ofThread.entries()) {
        if (i < udp.length) continue;
        const socket = createSocket(libc, address, open);
        // Only the first is bound without SO_REUSEPORT, so that it fails if another process uses the address.
        if (i > 0) setOption(libc, socket.descriptor, SOL_SOCKET, SO_REUSEPORT, 1);
        bind(libc, socket, address);
        if (i === 0) setOption(libc, socket.descriptor, SOL_SOCKET, SO_REUSEPORT, 1);
        address = boundAddress(libc, socket); // for port 0, the others use the port that the first one got
        sockets.push({ ...socket, local: localOf(address) });
      }
      bound.push(address);
      ofAddress.push(open.slice(before));
    }
  } catch (error) {
    close();
    throw error;
  }
  return {
    addresses: bound,
    ofThread,
    share() {
      isShared = true;
      return ofAddress;
    },
    wake() {
      if (isShared) return;
      // Fails with ENOTCONN, but wakes waiting threads. Otherwise they wake later, at their time limit.
      for (const descriptor of open) libc.shutdown(descriptor, SHUT_RD);
    },
    sendAnswer: (packet, answer) => open.includes(packet.descriptor) && sendAnswer(libc, packet, answer),
    close,
  };
}

function kindOf({ address }: ListenAddress): Omit<UdpSocket, 'descriptor'> {
  const ipv6 = address.includes(':');
  return {
    ipv6,
    wildcard: address === '0.0.0.0' || (ipv6 && octetsOf(address).every((octet) => octet === 0)),
  };
}

function localOf({ address, port }: ListenAddress): UdpSocket['local'] {
  return { address: addressOctets(address), port };
}

function createSocket(libc: Libc, { address, port }: ListenAddress, open: number[]): UdpSocket {
  const { ipv6, wildcard } = kindOf({ address, port });
  const descriptor = libc.socket(ipv6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  // Reported like an error of `bind`: on a machine without IPv6 the call already fails here, because of the address.
  if (descriptor < 0) throw listenError(libc, { address, port });
  open.push(descriptor);
  setTimeLimit(libc, descriptor, SO_RCVTIMEO);
  setTimeLimit(libc, descriptor, SO_SNDTIMEO);
  if (!trySetOption(libc, descriptor, SOL_SOCKET, SO_RCVBUFFORCE, RECEIVE_BUFFER_BYTES)) {
    trySetOption(libc, descriptor, SOL_SOCKET, SO_RCVBUF, RECEIVE_BUFFER_BYTES);
  }
  // No fragments, and no trust in "packet too big" messages, which may be forged (RFC 9715 §3.1). Answers are small enough.
  if (ipv6) {
    setOption(libc, descriptor, IPPROTO_IPV6, IPV6_V6ONLY, 1); // IPv4 clients never appear as ::ffff:a.b.c.d
    trySetOption(libc, descriptor, IPPROTO_IPV6, IPV6_MTU_DISCOVER, PMTUDISC_PROBE);
    if (wildcard) setOption(libc, descriptor, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
  } else {
    trySetOption(libc, descriptor, IPPROTO_IP, IP_MTU_DISCOVER, PMTUDISC_PROBE);
    if (wildcard) setOption(libc, descriptor, IPPROTO_IP, IP_PKTINFO, 1);
  }
  return { descriptor, ipv6, wildcard };
}

function bind(libc: Libc, socket: UdpSocket, address: ListenAddress): void {
  const bytes = encodeSocketAddress(address);
  if (libc.bind(socket.descriptor, bytes, bytes.length) < 0) throw listenError(libc, address);
}

function boundAddress(libc: Libc, socket: UdpSocket): ListenAddress {
  const bytes = new Uint8Array(SOCKADDR_IN6_BYTES);
  if (libc.getsockname(socket.descriptor, bytes, Uint32Array.of(bytes.length)) < 0) {
    throw new SystemError('getsockname', libc.errno());
  }
  return decodeSocketAddress(bytes);
}

function listenError(libc: Libc, address: ListenAddress): Error {
  return Object.assign(new SystemError('bind', libc.errno(), printListenAddress(address)), address);
}

function setTimeLimit(libc: Libc, descriptor: number, option: number): void {
  const seconds = Math.floor(WAIT_MS / 1000);
  const value = BigInt64Array.of(BigInt(seconds), BigInt((WAIT_MS - seconds * 1000) * 1000)); // struct timeval
  if (libc.setsockopt(descriptor, SOL_SOCKET, option, new Uint8Array(value.buffer), value.byteLength) < 0) {
    throw new SystemError('setsockopt', libc.errno());
  }
}

function setOption(libc: Libc, descriptor: number, level: number, option: number, value: number): void {
  if (!trySetOption(libc, descriptor, level, option, value)) {
    throw new SystemError('setsockopt', libc.errno());
  }
}

function trySetOption(libc: Libc, descriptor: number, level: number, option: number, value: number): boolean {
  const bytes = new Uint8Array(Int32Array.of(value).buffer);
  return libc.setsockopt(descriptor, level, option, bytes, bytes.length) === 0;
}

function octetsOf(address: string): Uint8Array {
  const zone = address.indexOf('%');
  return parseIpv6(zone < 0 ? address : address.slice(0, zone));
}

/** Returns a struct sockaddr_in or sockaddr_in6. The zone of an address may be a number or an interface name. */
function encodeSocketAddress({ address, port }: ListenAddress): Uint8Array {
  const ipv6 = address.includes(':');
  const bytes = new Uint8Array(ipv6 ? SOCKADDR_IN6_BYTES : SOCKADDR_IN_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, ipv6 ? AF_INET6 : AF_INET, true);
  view.setUint16(2, port);
  bytes.set(ipv6 ? octetsOf(address) : parseIpv4(address), ipv6 ? 8 : 4);
  const zone = address.indexOf('%');
  if (zone >= 0) view.setUint32(24, zoneIndex(address.slice(zone + 1)), true);
  return bytes;
}

function decodeSocketAddress(bytes: Uint8Array): ListenAddress {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const port = view.getUint16(2);
  if (view.getUint16(0, true) === AF_INET) return { address: printIpv4(bytes.subarray(4, 8)), port };
  const address = printIpv6(bytes.subarray(8, 24));
  const zone = view.getUint32(24, true);
  return { address: zone === 0 ? address : `${address}%${zone}`, port };
}

function zoneIndex(zone: string): number {
  if (/^\d+$/.test(zone)) return Number(zone);
  const ofInterface = networkInterfaces()[zone]?.find(({ family, scopeid }) => family === 'IPv6' && scopeid);
  return (ofInterface as { scopeid?: number } | undefined)?.scopeid ?? 0;
}
