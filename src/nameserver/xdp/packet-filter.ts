// The eBPF program at an interface. It passes UDP queries for the node's addresses to the socket of the queue on which
// they arrived, and everything else to the kernel, which also gets these queries if the queue has no socket.

import { BpfAssembler, SIZE } from './assemble-bpf.ts';
import { inNetworkOrder } from './checksum.ts';
import {
  ETHER_TYPE,
  ETHERNET_OCTETS,
  FRAGMENT,
  IPV4_OCTETS,
  IPV6_OCTETS,
  TAG_OCTETS,
  UDP,
  UDP_OCTETS,
} from './frame.ts';

/** Properties of the frames that the program takes. */
export interface FilterRules {
  readonly targets: readonly Target[];
  /** VLAN ids of frames that are taken, in addition to untagged ones. */
  readonly vlans: readonly number[];
  /** The hardware address that frames must be sent to. */
  readonly mac: Uint8Array;
}

/** An address and port that the node answers on. */
export interface Target {
  /** 4 or 16 octets. */
  readonly address: Uint8Array;
  readonly port: number;
}

/** The program compares the addresses one after another. */
export const MAX_TARGETS = 256;

const XDP_PASS = 2;
const REDIRECT_MAP = 51; // bpf_redirect_map
// struct xdp_md
const DATA = 0;
const DATA_END = 4;
const QUEUE = 16;

const SOURCE_AT = 6;
const TYPE_AT = ETHERNET_OCTETS - 2;
const TAG_AT = ETHERNET_OCTETS; // priority and VLAN id
const VLAN_MASK = 0x0fff;
const DESTINATION_PORT = 2;

// Registers. The others hold temporary values.
const PACKET = 2;
const END = 3;
const PORT = 7;
const ADDRESS = [5, 8, 9, 0] as const;
const CONTEXT = 6;
const LIMIT = 4;
const VALUE = 5;

/** Throws if there are too many targets. */
export function assembleFilter({ targets, vlans, mac }: FilterRules, map: number): Uint8Array {
  if (targets.length > MAX_TARGETS) throw new RangeError(`more than ${MAX_TARGETS} addresses`);
  const code = new BpfAssembler();
  code.move(CONTEXT, 1);
  code.load(SIZE.WORD, PACKET, CONTEXT, DATA);
  code.load(SIZE.WORD, END, CONTEXT, DATA_END);
  requireOctets(code, ETHERNET_OCTETS);
  matchMacs(code, mac);
  code.load(SIZE.HALF, VALUE, PACKET, TYPE_AT);
  if (vlans.length > 0) removeTag(code, vlans);
  code.jumpIfEqual(VALUE, inNetworkOrder(ETHER_TYPE.IPV4), 'ipv4');
  code.jumpIfEqual(VALUE, inNetworkOrder(ETHER_TYPE.IPV6), 'ipv6');
  pass(code);
  code.label('ipv4');
  matchIpv4(code, targets);
  code.label('ipv6');
  matchIpv6(code, targets);
  code.label('pass');
  pass(code);
  code.label('take');
  code.load(SIZE.WORD, 2, CONTEXT, QUEUE);
  code.loadMap(1, map);
  code.set(3, XDP_PASS); // the result if the queue has no socket
  code.call(REDIRECT_MAP);
  code.exit();
  return code.assemble();
}

/**
 * Passes frames to other hosts, which a promiscuous interface receives, and broadcasts. Also those that claim to come from a
 * group of hosts: the reply would be sent to all of them.
 */
function matchMacs(code: BpfAssembler, mac: Uint8Array): void {
  const view = new DataView(mac.buffer, mac.byteOffset);
  code.load(SIZE.WORD, VALUE, PACKET, 0);
  code.jumpUnlessEqual(VALUE, view.getInt32(0, true), 'pass');
  code.load(SIZE.HALF, VALUE, PACKET, 4);
  code.jumpUnlessEqual(VALUE, view.getUint16(4, true), 'pass');
  code.load(SIZE.BYTE, VALUE, PACKET, SOURCE_AT);
  code.and(VALUE, 1);
  code.jumpUnlessEqual(VALUE, 0, 'pass');
}

/** Moves PACKET, so that all later offsets are those of an untagged frame. Passes frames of other VLANs. */
function removeTag(code: BpfAssembler, vlans: readonly number[]): void {
  code.jumpUnlessEqual(VALUE, inNetworkOrder(ETHER_TYPE.TAG), 'no tag');
  requireOctets(code, ETHERNET_OCTETS + TAG_OCTETS);
  code.load(SIZE.HALF, VALUE, PACKET, TAG_AT);
  code.and(VALUE, inNetworkOrder(VLAN_MASK));
  for (const vlan of vlans) code.jumpIfEqual(VALUE, inNetworkOrder(vlan), 'known VLAN');
  pass(code);
  code.label('known VLAN');
  code.add(PACKET, TAG_OCTETS);
  code.load(SIZE.HALF, VALUE, PACKET, TYPE_AT);
  code.label('no tag');
}

function matchIpv4(code: BpfAssembler, targets: readonly Target[]): void {
  const ip = ETHERNET_OCTETS;
  requireOctets(code, ip + IPV4_OCTETS + UDP_OCTETS);
  code.load(SIZE.BYTE, VALUE, PACKET, ip);
  code.jumpUnlessEqual(VALUE, 0x45, 'pass'); // with options, or not IPv4
  code.load(SIZE.HALF, VALUE, PACKET, ip + 6);
  code.and(VALUE, inNetworkOrder(FRAGMENT));
  code.jumpUnlessEqual(VALUE, 0, 'pass'); // a fragment
  code.load(SIZE.BYTE, VALUE, PACKET, ip + 9);
  code.jumpUnlessEqual(VALUE, UDP, 'pass');
  code.load(SIZE.HALF, PORT, PACKET, ip + IPV4_OCTETS + DESTINATION_PORT);
  code.load(SIZE.WORD, ADDRESS[0], PACKET, ip + 16);
  for (const { address, port } of targets) {
    if (address.length === 4) matchTarget(code, address, port);
  }
  pass(code);
}

function matchIpv6(code: BpfAssembler, targets: readonly Target[]): void {
  const ip = ETHERNET_OCTETS;
  requireOctets(code, ip + IPV6_OCTETS + UDP_OCTETS);
  code.load(SIZE.BYTE, VALUE, PACKET, ip);
  code.and(VALUE, 0xf0);
  code.jumpUnlessEqual(VALUE, 0x60, 'pass');
  code.load(SIZE.BYTE, VALUE, PACKET, ip + 6);
  code.jumpUnlessEqual(VALUE, UDP, 'pass'); // also extension headers
  code.load(SIZE.HALF, PORT, PACKET, ip + IPV6_OCTETS + DESTINATION_PORT);
  for (const [i, register] of ADDRESS.entries()) code.load(SIZE.WORD, register, PACKET, ip + 24 + 4 * i);
  for (const { address, port } of targets) {
    if (address.length === 16) matchTarget(code, address, port);
  }
}

/** Takes the packet if its port and its address, in the registers of ADDRESS, are those of the target. */
function matchTarget(code: BpfAssembler, address: Uint8Array, port: number): void {
  const next = `after ${address.join('.')} ${port}`;
  const view = new DataView(address.buffer, address.byteOffset);
  for (let i = 0; 4 * i < address.length; i++) {
    code.jumpUnlessEqual(ADDRESS[i] as number, view.getUint32(4 * i, true), next);
  }
  code.jumpIfEqual(PORT, inNetworkOrder(port), 'take');
  code.label(next);
}

/** Passes a packet to the kernel if it has fewer octets from PACKET on. */
function requireOctets(code: BpfAssembler, octets: number): void {
  code.move(LIMIT, PACKET);
  code.add(LIMIT, octets);
  code.jumpIfGreater(LIMIT, END, 'pass');
}

function pass(code: BpfAssembler): void {
  code.set(0, XDP_PASS);
  code.exit();
}
