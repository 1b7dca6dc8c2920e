// Sockets that send and receive many datagrams or Ethernet frames with one system call.

import { readFileSync } from 'node:fs';
import { parseIpv4, parseIpv6 } from '../../../src/dns/record/ip-address.ts';
import {
  AF_INET,
  AF_INET6,
  EAGAIN,
  EINTR,
  type Libc,
  MSG_DONTWAIT,
  SO_RCVBUFFORCE,
  SOCK_DGRAM,
  SOL_SOCKET,
  SystemError,
} from '../../../src/nameserver/threads/libc.ts';

export const BATCH = 64;
const AF_PACKET = 17;
const SOCK_RAW = 3;
const SOL_PACKET = 263;
const PACKET_AUXDATA = 8;
const PACKET_IGNORE_OUTGOING = 23;
const ETH_P_ALL = 3;
const RECEIVE_BUFFER_BYTES = 1 << 24;
const OCTETS = 1 << 16;
const HEADER_BYTES = 64; // struct mmsghdr
const PIECE_BYTES = 16; // struct iovec
const CONTROL_BYTES = 64;
const VLAN_VALID = 1 << 4;
const VLAN_OCTETS = 4;

export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

export class DatagramSocket {
  readonly #libc: Libc;
  readonly #descriptor: number;
  readonly #isRaw: boolean;
  readonly #sent: Messages;
  readonly #received: Messages;

  /** Opens a connected UDP socket. */
  static udp(libc: Libc, from: Endpoint, to: Endpoint): DatagramSocket {
    const family = to.address.includes(':') ? AF_INET6 : AF_INET;
    const socket = new DatagramSocket(libc, libc.socket(family, SOCK_DGRAM, 0), false);
    socket.#name('bind', from);
    socket.#name('connect', to);
    return socket;
  }

  /** Opens a socket for the frames of an interface. */
  static frames(libc: Libc, device: string): DatagramSocket {
    const socket = new DatagramSocket(libc, libc.socket(AF_PACKET, SOCK_RAW, 0), true);
    const one = new Uint8Array(Int32Array.of(1).buffer);
    for (const option of [PACKET_AUXDATA, PACKET_IGNORE_OUTGOING])
      socket.#check('setsockopt', libc.setsockopt(socket.#descriptor, SOL_PACKET, option, one, 4));
    const name = new DataView(new ArrayBuffer(20)); // struct sockaddr_ll
    name.setUint16(0, AF_PACKET, true);
    name.setUint16(2, ETH_P_ALL);
    name.setInt32(4, Number(readFileSync(`/sys/class/net/${device}/ifindex`, 'utf8')), true);
    socket.#check('bind', libc.bind(socket.#descriptor, new Uint8Array(name.buffer), 20));
    return socket;
  }

  private constructor(libc: Libc, descriptor: number, isRaw: boolean) {
    this.#libc = libc;
    this.#descriptor = descriptor;
    this.#isRaw = isRaw;
    this.#sent = new Messages(libc, 0);
    this.#received = new Messages(libc, isRaw ? CONTROL_BYTES : 0);
    this.#check('socket', descriptor);
    const bytes = new Uint8Array(Int32Array.of(RECEIVE_BUFFER_BYTES).buffer);
    libc.setsockopt(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, bytes, 4);
  }

  #name(call: 'bind' | 'connect', { address, port }: Endpoint): void {
    const isIpv6 = address.includes(':');
    const name = new Uint8Array(isIpv6 ? 28 : 16); // struct sockaddr_in6, sockaddr_in
    new DataView(name.buffer).setUint16(0, isIpv6 ? AF_INET6 : AF_INET, true);
    new DataView(name.buffer).setUint16(2, port);
    name.set(isIpv6 ? parseIpv6(address) : parseIpv4(address), isIpv6 ? 8 : 4);
    this.#check(call, this.#libc[call](this.#descriptor, name, name.length));
  }

  #check(call: string, result: number): void {
    if (result < 0) throw new SystemError(call, this.#libc.errno());
  }

  /** Sends up to BATCH datagrams. Returns the number that the system accepted; it skips those that it rejects. */
  send(datagrams: readonly Uint8Array[]): number {
    let accepted = 0;
    for (const [i, octets] of datagrams.entries()) this.#sent.set(i, octets);
    for (let at = 0; at < datagrams.length; ) {
      const count = datagrams.length - at;
      const sent = this.#libc.sendmmsg(this.#descriptor, this.#sent.address(at), count, 0);
      if (sent > 0) accepted += sent;
      at += Math.max(1, sent);
    }
    return accepted;
  }

  /** Calls `take` with each datagram that has arrived; its octets are valid only during the call. Returns their number. */
  receive(take: (octets: Uint8Array) => void): number {
    this.#received.reset();
    const count = this.#libc.recvmmsg(this.#descriptor, this.#received.address(0), BATCH, MSG_DONTWAIT, 0);
    if (count < 0) {
      const errno = this.#libc.errno();
      if (errno === EAGAIN || errno === EINTR || errno === ECONNREFUSED || errno === ENETDOWN) return 0;
      throw new SystemError('recvmmsg', errno);
    }
    for (let i = 0; i < count; i++) take(this.#isRaw ? this.#received.frame(i) : this.#received.get(i));
    return count;
  }

  close(): void {
    this.#libc.close(this.#descriptor);
  }
}

const ECONNREFUSED = 111;
const ENETDOWN = 100;

/** Memory of BATCH messages with their headers. */
class Messages {
  readonly #bytes = new Uint8Array(BATCH * (HEADER_BYTES + PIECE_BYTES + CONTROL_BYTES + OCTETS));
  readonly #view = new DataView(this.#bytes.buffer);
  readonly #base: bigint;
  readonly #controlBytes: number;

  constructor(libc: Libc, controlBytes: number) {
    this.#base = libc.addressOf(this.#bytes);
    this.#controlBytes = controlBytes;
    for (let i = 0; i < BATCH; i++) {
      this.#view.setBigUint64(PIECES_AT + i * PIECE_BYTES, this.#base + BigInt(octetsAt(i)), true);
      this.#view.setBigUint64(i * HEADER_BYTES + 16, this.#base + BigInt(PIECES_AT + i * PIECE_BYTES), true);
      this.#view.setBigUint64(i * HEADER_BYTES + 24, 1n, true);
      if (controlBytes > 0)
        this.#view.setBigUint64(i * HEADER_BYTES + 32, this.#base + BigInt(controlAt(i)), true);
    }
  }

  address(i: number): bigint {
    return this.#base + BigInt(i * HEADER_BYTES);
  }

  set(i: number, octets: Uint8Array): void {
    this.#bytes.set(octets, octetsAt(i));
    this.#view.setUint32(PIECES_AT + i * PIECE_BYTES + 8, octets.length, true);
  }

  /** Sets the lengths, which the system replaces with those of the received messages. */
  reset(): void {
    for (let i = 0; i < BATCH; i++) {
      this.#view.setUint32(PIECES_AT + i * PIECE_BYTES + 8, OCTETS - VLAN_OCTETS, true);
      this.#view.setUint32(i * HEADER_BYTES + 40, this.#controlBytes, true);
    }
  }

  get(i: number): Uint8Array {
    const at = octetsAt(i);
    return this.#bytes.subarray(at, at + this.#view.getUint32(i * HEADER_BYTES + 56, true));
  }

  /** Returns the frame with its VLAN tag, which the system stores in struct tpacket_auxdata. */
  frame(i: number): Uint8Array {
    const octets = this.get(i);
    const auxiliary = controlAt(i) + 16;
    if ((this.#view.getUint32(auxiliary, true) & VLAN_VALID) === 0) return octets;
    const tagged = new Uint8Array(octets.length + VLAN_OCTETS);
    tagged.set(octets.subarray(0, 12));
    new DataView(tagged.buffer).setUint16(12, this.#view.getUint16(auxiliary + 18, true));
    new DataView(tagged.buffer).setUint16(14, this.#view.getUint16(auxiliary + 16, true));
    tagged.set(octets.subarray(12), 16);
    return tagged;
  }
}

const PIECES_AT = BATCH * HEADER_BYTES;
const CONTROLS_AT = PIECES_AT + BATCH * PIECE_BYTES;
const octetsAt = (i: number) => CONTROLS_AT + BATCH * CONTROL_BYTES + i * OCTETS;
const controlAt = (i: number) => CONTROLS_AT + i * CONTROL_BYTES;
