// Reads Ethernet frames with UDP queries in place, and writes the headers of the replies. Allocates nothing: the state of
// a frame is kept in fields until the next one. The caller drops frames that are rejected here, as the kernel would: the
// filter has passed everything to the kernel that is not for the node.

import { fold, inNetworkOrder, sumWords } from './checksum.ts';

export const ETHERNET_OCTETS = 14;
export const TAG_OCTETS = 4;
export const IPV4_OCTETS = 20;
export const IPV6_OCTETS = 40;
export const UDP_OCTETS = 8;
export const MAX_HEADERS_OCTETS = ETHERNET_OCTETS + TAG_OCTETS + IPV6_OCTETS + UDP_OCTETS;
/** The shortest frame, without its checksum (IEEE 802.3 §4.2.3.3). */
const MIN_FRAME_OCTETS = 60;

export const ETHER_TYPE = { IPV4: 0x0800, IPV6: 0x86dd, TAG: 0x8100 } as const;
export const UDP = 17;
const HOP_LIMIT = 64;
const DONT_FRAGMENT = 0x4000;
export const FRAGMENT = 0x3fff; // "more fragments", and the offset
/** The protocol of the pseudo-header, as a term of a sum. */
const UDP_TERM = inNetworkOrder(UDP);

export class Frame {
  /** The DNS message. */
  messageAt = 0;
  messageOctets = 0;
  /** The addresses of the client and the node, each of `addressOctets`. */
  clientAt = 0;
  destinationAt = 0;
  addressOctets = 4;
  /** Length of all headers before the message. */
  headersOctets = 0;
  readonly #view: DataView;
  #at = 0;
  #ip = 0;
  /** Sum of both addresses, which is equal in the reply. */
  #addressSum = 0;

  constructor(bytes: Uint8Array) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Length of the IP and UDP headers, which the MTU includes. */
  get packetHeadersOctets(): number {
    return this.headersOctets - (this.#ip - this.#at);
  }

  get clientPort(): number {
    return this.#view.getUint16(this.messageAt - UDP_OCTETS);
  }

  get destinationPort(): number {
    return this.#view.getUint16(this.messageAt - UDP_OCTETS + 2);
  }

  /** Returns false if the frame is malformed or its source cannot be a client. */
  read(at: number, octets: number): boolean {
    const view = this.#view;
    if (octets < ETHERNET_OCTETS) return false;
    const end = at + octets;
    let ip = at + ETHERNET_OCTETS;
    let type = view.getUint16(ip - 2);
    if (type === ETHER_TYPE.TAG) {
      ip += TAG_OCTETS;
      if (ip > end) return false;
      type = view.getUint16(ip - 2);
    }
    this.#at = at;
    this.#ip = ip;
    if (type === ETHER_TYPE.IPV4) return this.#readIpv4(ip, end);
    return type === ETHER_TYPE.IPV6 && this.#readIpv6(ip, end);
  }

  #readIpv4(ip: number, end: number): boolean {
    const view = this.#view;
    if (end - ip < IPV4_OCTETS + UDP_OCTETS) return false;
    const head = view.getInt32(ip);
    const total = head & 0xffff; // octets after it are padding
    if (head >>> 24 !== 0x45 || total < IPV4_OCTETS + UDP_OCTETS || total > end - ip) return false;
    if ((view.getUint16(ip + 6) & FRAGMENT) !== 0 || view.getUint8(ip + 9) !== UDP) return false;
    if (fold(sumWords(view, ip, IPV4_OCTETS)) !== 0xffff) return false;
    this.clientAt = ip + 12;
    this.destinationAt = ip + 16;
    this.addressOctets = 4;
    const source = view.getInt32(ip + 12);
    if (!isIpv4Client(source) || source === view.getInt32(ip + 16)) return false;
    this.#addressSum = sumWords(view, ip + 12, 8);
    return this.#readUdp(ip + IPV4_OCTETS, total - IPV4_OCTETS, true);
  }

  #readIpv6(ip: number, end: number): boolean {
    const view = this.#view;
    if (end - ip < IPV6_OCTETS + UDP_OCTETS) return false;
    const payload = view.getUint16(ip + 4);
    if (view.getUint8(ip) >> 4 !== 6 || payload > end - ip - IPV6_OCTETS) return false;
    if (view.getUint8(ip + 6) !== UDP) return false;
    this.clientAt = ip + 8;
    this.destinationAt = ip + 24;
    this.addressOctets = 16;
    if (!this.#isIpv6Client(ip + 8)) return false;
    this.#addressSum = sumWords(view, ip + 8, 32);
    return this.#readUdp(ip + IPV6_OCTETS, payload, false);
  }

  #readUdp(udp: number, room: number, mayOmitChecksum: boolean): boolean {
    const view = this.#view;
    const octets = view.getUint16(udp + 4);
    if (octets < UDP_OCTETS || octets > room || view.getUint16(udp) === 0) return false;
    const checksum = view.getUint16(udp + 6, true);
    if (checksum !== 0) {
      const pseudo = this.#addressSum + UDP_TERM + inNetworkOrder(octets);
      // For a sender on the same machine, including its containers, the kernel leaves the checksum to the hardware, and the
      // field has only the sum of the pseudo-header.
      if (fold(pseudo + sumWords(view, udp, octets)) !== 0xffff && checksum !== fold(pseudo)) return false;
    } else if (!mayOmitChecksum) return false; // RFC 8200 §8.1
    this.messageAt = udp + UDP_OCTETS;
    this.messageOctets = octets - UDP_OCTETS;
    this.headersOctets = this.messageAt - this.#at;
    return true;
  }

  /** Returns false for unspecified, loopback, multicast and IPv4-mapped addresses, and for the destination. */
  #isIpv6Client(at: number): boolean {
    const view = this.#view;
    const first = view.getInt32(at);
    if (first >>> 24 === 0xff) return false;
    if (first !== 0) {
      for (let i = 0; i < 16; i += 4) if (view.getInt32(at + i) !== view.getInt32(at + 16 + i)) return true;
      return false;
    }
    if (view.getInt32(at + 4) !== 0) return true;
    const third = view.getInt32(at + 8);
    return third === 0 ? view.getInt32(at + 12) >>> 1 !== 0 : third !== 0xffff;
  }

  /**
   * Writes the headers of the reply to the frame that was read last. They start at `at`; the message of `octets` octets
   * has been written after them. Returns the length of the reply's frame.
   */
  writeReply(at: number, octets: number): number {
    const view = this.#view;
    const query = this.#at;
    view.setInt32(at, view.getInt32(query + 6)); // the hardware addresses, exchanged
    view.setInt16(at + 4, view.getInt16(query + 10));
    view.setInt32(at + 6, view.getInt32(query));
    view.setInt16(at + 10, view.getInt16(query + 4));
    const ip = this.#ip;
    let from = query + ETHERNET_OCTETS - 2;
    let to = at + ETHERNET_OCTETS - 2;
    for (; from < ip; from += 2, to += 2) view.setInt16(to, view.getInt16(from)); // tag and type
    const udpOctets = UDP_OCTETS + octets;
    const udp = to + (this.addressOctets === 4 ? IPV4_OCTETS : IPV6_OCTETS);
    if (this.addressOctets === 4) this.#writeIpv4(to, ip, udpOctets);
    else this.#writeIpv6(to, ip, udpOctets);
    const ports = view.getInt32(this.messageAt - UDP_OCTETS);
    view.setInt32(udp, (ports << 16) | (ports >>> 16));
    view.setInt32(udp + 4, udpOctets << 16);
    const sum = this.#addressSum + UDP_TERM + inNetworkOrder(udpOctets) + sumWords(view, udp, udpOctets);
    const checksum = ~fold(sum) & 0xffff;
    view.setUint16(udp + 6, checksum === 0 ? 0xffff : checksum, true); // 0 means "no checksum"
    let end = udp + udpOctets;
    while (end - at < MIN_FRAME_OCTETS) view.setUint8(end++, 0);
    return end - at;
  }

  #writeIpv4(to: number, query: number, udpOctets: number): void {
    const view = this.#view;
    const total = IPV4_OCTETS + udpOctets;
    view.setInt32(to, 0x45000000 | total);
    view.setInt32(to + 4, DONT_FRAGMENT); // with it, the id may be zero (RFC 6864 §4.1)
    view.setInt32(to + 8, (HOP_LIMIT << 24) | (UDP << 16));
    view.setInt32(to + 12, view.getInt32(query + 16));
    view.setInt32(to + 16, view.getInt32(query + 12));
    const head =
      inNetworkOrder(0x4500) + inNetworkOrder(DONT_FRAGMENT) + inNetworkOrder((HOP_LIMIT << 8) | UDP);
    view.setUint16(to + 10, ~fold(this.#addressSum + head + inNetworkOrder(total)), true);
  }

  #writeIpv6(to: number, query: number, udpOctets: number): void {
    const view = this.#view;
    view.setInt32(to, 0x60000000);
    view.setInt32(to + 4, (udpOctets << 16) | (UDP << 8) | HOP_LIMIT);
    for (let i = 0; i < 16; i += 4) {
      view.setInt32(to + 8 + i, view.getInt32(query + 24 + i));
      view.setInt32(to + 24 + i, view.getInt32(query + 8 + i));
    }
  }
}

/** Returns false for 0.0.0.0/8, 127.0.0.0/8, 224.0.0.0/4 and 255.255.255.255. */
function isIpv4Client(address: number): boolean {
  const first = address >>> 24;
  return first !== 0 && first !== 127 && (first < 224 || first >= 240) && address !== -1;
}
