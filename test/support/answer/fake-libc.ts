// A simulated system for UDP threads, in the memory of a test: packets to receive, and packets that were sent. Reads
// and writes struct mmsghdr like the kernel, so that invalid headers are detected.

import type { Libc } from '../../../src/nameserver/threads/libc.ts';

export interface FakePacket {
  /** struct sockaddr_in or sockaddr_in6. */
  readonly name: Uint8Array;
  readonly octets: Uint8Array;
  /** struct cmsghdr and the data after it. */
  readonly control?: Uint8Array;
  readonly flags?: number;
}

const HEADER_OCTETS = 64;

export class FakeLibc implements Libc {
  /** The packets that the next receive returns. */
  incoming: FakePacket[] = [];
  readonly sent: FakePacket[] = [];
  /** The results of the next sends: the maximum number of packets, or an error. If empty, all packets are sent. */
  sends: ({ readonly atMost: number } | { readonly errno: number })[] = [];
  receiveErrno = 0;
  readonly receiveFlags: number[] = [];
  #errno = 0;
  #memory: Uint8Array = new Uint8Array(0);
  #view: DataView = new DataView(new ArrayBuffer(0));

  addressOf(memory: Uint8Array): bigint {
    this.#memory = memory;
    this.#view = new DataView(memory.buffer);
    return BASE;
  }

  recvmmsg(_socket: number, messages: bigint, count: number, flags: number): number {
    this.receiveFlags.push(flags);
    if (this.receiveErrno !== 0) return this.#fail(this.receiveErrno);
    const packets = this.incoming.splice(0, count);
    for (const [i, packet] of packets.entries()) {
      const header = at(messages) + i * HEADER_OCTETS;
      const piece = this.#pointer(header + 16);
      this.#fill(this.#pointer(header), this.#view.getInt32(header + 8, true), packet.name);
      this.#fill(this.#pointer(piece), this.#octets(piece + 8), packet.octets);
      const control = packet.control ?? new Uint8Array(0);
      this.#fill(this.#pointer(header + 32), this.#octets(header + 40), control);
      this.#view.setInt32(header + 8, packet.name.length, true);
      this.#view.setBigInt64(header + 40, BigInt(control.length), true);
      this.#view.setInt32(header + 48, packet.flags ?? 0, true);
      this.#view.setInt32(header + 56, packet.octets.length, true);
    }
    return packets.length;
  }

  sendmmsg(_socket: number, messages: bigint, count: number): number {
    const outcome = this.sends.shift();
    if (outcome !== undefined && 'errno' in outcome) return this.#fail(outcome.errno);
    const sent = Math.min(count, outcome?.atMost ?? count);
    for (let i = 0; i < sent; i++) {
      const header = at(messages) + i * HEADER_OCTETS;
      if (this.#octets(header + 24) !== 1) throw new Error('a message has one piece');
      const piece = this.#pointer(header + 16);
      const controlBytes = this.#octets(header + 40);
      this.sent.push({
        name: this.#copy(this.#pointer(header), this.#view.getInt32(header + 8, true)),
        octets: this.#copy(this.#pointer(piece), this.#octets(piece + 8)),
        ...(controlBytes === 0 ? {} : { control: this.#copy(this.#pointer(header + 32), controlBytes) }),
      });
    }
    return sent;
  }

  errno = () => this.#errno;
  socket = unexpected;
  setsockopt = unexpected;
  bind: Libc['bind'] = unexpected;
  getsockname: Libc['getsockname'] = unexpected;
  shutdown = unexpected;
  close = unexpected;
  poll = unexpected;
  connect = unexpected;
  fcntl = unexpected;
  sendmsg = unexpected;
  recvmsg = unexpected;
  madvise = unexpected;

  #fail(errno: number): number {
    this.#errno = errno;
    return -1;
  }

  #pointer(offset: number): number {
    return at(this.#view.getBigInt64(offset, true));
  }

  #octets(offset: number): number {
    return Number(this.#view.getBigInt64(offset, true));
  }

  #fill(offset: number, room: number, octets: Uint8Array): void {
    if (octets.length > room) throw new Error(`${octets.length} octets, but only ${room} fit`);
    this.#memory.set(octets, offset);
  }

  #copy(offset: number, octets: number): Uint8Array {
    return this.#memory.slice(offset, offset + octets);
  }
}

/** Above 4 GiB, so that both words of an address are needed. */
const BASE = 0x7_ffff_f000n;

function at(address: bigint): number {
  return Number(address - BASE);
}

function unexpected(): number {
  throw new Error('not a call for packets');
}
