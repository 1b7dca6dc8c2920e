// Ethernet frames with UDP packets, as a client sends and receives them.

import { parseIpv4, parseIpv6 } from '../../../src/dns/record/ip-address.ts';

export interface Route {
  readonly from: { readonly mac: Uint8Array; readonly address: string; readonly port: number };
  readonly to: { readonly mac: Uint8Array; readonly address: string; readonly port: number };
  /** The whole tag: priority and VLAN id. Undefined if frames have none. */
  readonly tag?: number;
}

export interface UdpFrame {
  readonly tag: number | undefined;
  /** Octets of the addresses and ports, in hexadecimal. */
  readonly from: string;
  readonly to: string;
  readonly payload: Uint8Array;
  /** Faults of the lengths, flags and checksums. */
  readonly faults: readonly string[];
}

const ETHERNET_OCTETS = 14;
const MIN_FRAME_OCTETS = 60; // without the frame check sequence
const UDP_OCTETS = 8;
const UDP = 17;
const TTL = 64;
const DONT_FRAGMENT = 0x4000;

export function encodeUdpFrame({ from, to, tag }: Route, payload: Uint8Array): Buffer {
  const isIpv6 = from.address.includes(':');
  const [source, target] = [from, to].map(({ address }) => (isIpv6 ? parseIpv6 : parseIpv4)(address)) as [
    Uint8Array,
    Uint8Array,
  ];
  const udp = Buffer.alloc(UDP_OCTETS + payload.length);
  udp.writeUInt16BE(from.port, 0);
  udp.writeUInt16BE(to.port, 2);
  udp.writeUInt16BE(udp.length, 4);
  udp.set(payload, UDP_OCTETS);
  udp.writeUInt16BE(udpChecksum(source, target, udp) || 0xffff, 6);
  const ip = isIpv6 ? ipv6Header(source, target, udp.length) : ipv4Header(source, target, udp.length);
  const type = Buffer.alloc(tag === undefined ? 2 : 6);
  if (tag !== undefined) {
    type.writeUInt16BE(0x8100, 0);
    type.writeUInt16BE(tag, 2);
  }
  type.writeUInt16BE(isIpv6 ? 0x86dd : 0x0800, type.length - 2);
  return Buffer.concat([to.mac, from.mac, type, ip, udp]);
}

function ipv4Header(source: Uint8Array, target: Uint8Array, octets: number): Buffer {
  const header = Buffer.alloc(20);
  header[0] = 0x45;
  header.writeUInt16BE(20 + octets, 2);
  header.writeUInt16BE(DONT_FRAGMENT, 6);
  header[8] = TTL;
  header[9] = UDP;
  header.set(source, 12);
  header.set(target, 16);
  header.writeUInt16BE(checksum(header), 10);
  return header;
}

function ipv6Header(source: Uint8Array, target: Uint8Array, octets: number): Buffer {
  const header = Buffer.alloc(40);
  header[0] = 0x60;
  header.writeUInt16BE(octets, 4);
  header[6] = UDP;
  header[7] = TTL;
  header.set(source, 8);
  header.set(target, 24);
  return header;
}

/** Returns undefined if the frame is not a UDP packet without options. */
export function decodeUdpFrame(frame: Uint8Array): UdpFrame | undefined {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.length);
  const isTagged = frame.length > 18 && view.getUint16(12) === 0x8100;
  const at = isTagged ? ETHERNET_OCTETS + 4 : ETHERNET_OCTETS;
  if (frame.length < at + 28) return undefined;
  const type = view.getUint16(at - 2);
  const isIpv6 = type === 0x86dd;
  if (!isIpv6 && (type !== 0x0800 || frame[at] !== 0x45 || frame[at + 9] !== UDP)) return undefined;
  if (isIpv6 && (frame.length < at + 48 || frame[at + 6] !== UDP)) return undefined;
  const udp = at + (isIpv6 ? 40 : 20);
  const octets = view.getUint16(udp + 4);
  const [source, target] = isIpv6
    ? [frame.subarray(at + 8, at + 24), frame.subarray(at + 24, at + 40)]
    : [frame.subarray(at + 12, at + 16), frame.subarray(at + 16, at + 20)];
  const faults: string[] = [];
  const total = isIpv6 ? 40 + view.getUint16(at + 4) : view.getUint16(at + 2);
  const isPadded = frame.length === MIN_FRAME_OCTETS && frame.length > at + total;
  if (frame.length !== at + total && !isPadded)
    faults.push(`the IP packet has ${total} octets, its frame ${frame.length}`);
  if (total !== udp - at + octets) faults.push(`the IP packet has ${total} octets, UDP ${octets}`);
  if (!isIpv6 && checksum(frame.subarray(at, at + 20)) !== 0) faults.push('checksum of the IPv4 header');
  if (!isIpv6 && (view.getUint16(at + 6) & ~DONT_FRAGMENT) !== 0) faults.push('a fragment');
  if ((isIpv6 ? frame[at + 7] : frame[at + 8]) !== TTL) faults.push('hop limit');
  const sum = view.getUint16(udp + 6);
  const isOmitted = sum === 0 && !isIpv6; // RFC 768; not permitted over IPv6 (RFC 8200 §8.1)
  const content = frame.subarray(udp, Math.min(frame.length, udp + octets));
  if (!isOmitted && (sum === 0 || udpChecksum(source, target, content) !== 0)) faults.push('UDP checksum');
  const endpoint = (address: Uint8Array, port: number) => `${Buffer.from(address).toString('hex')}:${port}`;
  return {
    tag: isTagged ? view.getUint16(14) : undefined,
    from: endpoint(source, view.getUint16(udp)),
    to: endpoint(target, view.getUint16(udp + 2)),
    payload: frame.subarray(udp + UDP_OCTETS, udp + octets),
    faults,
  };
}

/** Returns 0 if the packet has a valid checksum. */
function udpChecksum(source: Uint8Array, target: Uint8Array, udp: Uint8Array): number {
  const pseudo = Buffer.alloc(8);
  pseudo.writeUInt32BE(udp.length, 0);
  pseudo.writeUInt32BE(UDP, 4);
  return checksum(Buffer.concat([source, target, pseudo, udp]));
}

/** Returns the checksum of RFC 1071. */
export function checksum(octets: Uint8Array): number {
  let sum = 0;
  for (let i = 0; i < octets.length; i += 2) sum += ((octets[i] as number) << 8) | (octets[i + 1] ?? 0);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}
