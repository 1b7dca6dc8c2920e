import { describe, expect, it } from 'vitest';
import { BpfAssembler } from '../../../src/nameserver/xdp/assemble-bpf.ts';
import { assembleFilter, MAX_TARGETS } from '../../../src/nameserver/xdp/packet-filter.ts';
import { encodeUdpFrame } from '../../support/network/frames.ts';
import { CLIENT, frameOf, NODE, NODE_MAC, withTags } from '../../support/network/query-frames.ts';

const XDP_PASS = 2;
const MAP = 77;
const QUEUE = 5;
const TARGETS = [
  { address: Uint8Array.of(192, 0, 2, 1), port: 53 },
  { address: Uint8Array.of(200, 0, 2, 1), port: 5300 },
  { address: Uint8Array.from([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x53]), port: 53 },
];
const FILTER = assembleFilter({ targets: TARGETS, vlans: [5, 1], mac: NODE_MAC }, MAP);

/** Runs a program as the kernel would. Throws if it reads beyond the frame. Returns `take` if it redirects to the map. */
function run(code: Uint8Array, frame: Uint8Array): 'take' | 'pass' {
  const view = new DataView(code.buffer, code.byteOffset);
  const octets = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  const context = new Map([
    [0, 0],
    [4, frame.length],
    [16, QUEUE],
  ]); // prettier-ignore
  const registers: number[] = [0, -1, 0, 0, 0, 0, 0, 0, 0, 0];
  let isContext = new Set([1]);
  for (let at = 0; ; at++) {
    const operation = code[8 * at] as number;
    const to = (code[8 * at + 1] as number) & 15;
    const from = (code[8 * at + 1] as number) >> 4;
    const offset = view.getInt16(8 * at + 2, true);
    const value = view.getInt32(8 * at + 4, true);
    const [left = 0, right = 0] = [registers[to], registers[from]];
    const load = (read: (at: number) => number) => {
      registers[to] = isContext.has(from) ? (context.get(offset) ?? Number.NaN) : read(right + offset);
    };
    if (operation === 0x61) load((i) => octets.getUint32(i, true));
    else if (operation === 0x69) load((i) => octets.getUint16(i, true));
    else if (operation === 0x71) load((i) => octets.getUint8(i));
    else if (operation === 0x18) registers[to] = view.getInt32(8 * at++ + 4, true);
    else if (operation === 0x07) registers[to] = left + value;
    else if (operation === 0x57) registers[to] = left & value;
    else if (operation === 0xb7) registers[to] = value;
    else if (operation === 0xbf) {
      registers[to] = right;
      if (isContext.has(from)) isContext = new Set([...isContext, to]);
    } else if (operation === 0x2d) at += left > right ? offset : 0;
    else if (operation === 0x16) at += left >>> 0 === value >>> 0 ? offset : 0;
    else if (operation === 0x56) at += left >>> 0 !== value >>> 0 ? offset : 0;
    else if (operation === 0x85) {
      expect([value, ...registers.slice(1, 4)]).toEqual([51, MAP, QUEUE, XDP_PASS]);
      return 'take';
    } else if (operation === 0x95) {
      expect(registers[0]).toBe(XDP_PASS);
      return 'pass';
    } else throw new Error(`unknown operation ${operation}`);
  }
}

const QUERY = Buffer.alloc(20);
const V4 = frameOf('ipv4', QUERY);
const V6 = frameOf('ipv6', QUERY);

/** Returns a copy in which the octets from `at` on are replaced. */
function changed(frame: Uint8Array, at: number, ...octets: number[]): Buffer {
  const copy = Buffer.from(frame);
  copy.set(octets, at);
  return copy;
}

describe('assembleFilter', () => {
  const to = (address: string, port: number) =>
    encodeUdpFrame(
      { from: address.includes(':') ? CLIENT.ipv6 : CLIENT.ipv4, to: { ...NODE.ipv4, address, port } },
      QUERY,
    );
  it.each([
    ['a query over IPv4', V4],
    ['a query over IPv6', V6],
    ['a query in one VLAN', withTags(V4, 0x8100)],
    ['a query in another VLAN of the node', changed(withTags(V6, 0x8100), 15, 5)],
    ['a second address with its port', to('200.0.2.1', 5300)],
    ['an IPv4 packet that must not be fragmented', changed(V4, 20, 0x40)],
  ])('takes %s', (_, frame) => {
    expect(run(FILTER, frame)).toBe('take');
  });

  it.each([
    ['a query in a VLAN that the node does not use', changed(withTags(V4, 0x8100), 15, 2)],
    ['a VLAN id that differs in its upper bits', changed(withTags(V4, 0x8100), 14, 0x61)],
    ['a priority without a VLAN', changed(withTags(V4, 0x8100), 15, 0)],
    ['a service tag', withTags(V4, 0x88a8)],
    ['two VLAN tags', withTags(V4, 0x8100, 0x8100)],
    ['a broadcast', changed(V4, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)],
    ['a frame to a host whose address differs at the start', changed(V4, 0, 0x12)],
    ['a frame to a host whose address differs at the end', changed(V6, 5, 0x51)],
    ['a frame from a group of hosts', changed(V4, 6, 3)],
    ['ARP', changed(V4, 12, 0x08, 0x06)],
    ['IP options', changed(V4, 14, 0x46)],
    ['the first fragment', changed(V4, 20, 0x20, 0)],
    ['a later fragment', changed(V4, 20, 0, 1)],
    ['TCP over IPv4', changed(V4, 23, 6)],
    ['TCP over IPv6', changed(V6, 20, 6)],
    ['an extension header', changed(V6, 20, 0)],
    ['IPv6 with another version', changed(V6, 14, 0x50)],
    ['another port', to('192.0.2.1', 54)],
    ["another address's port", to('192.0.2.1', 5300)],
    ['another IPv4 address', to('192.0.2.2', 53)],
    ['another IPv6 address', to('2001:db8::54', 53)],
    ['an IPv6 address that differs in its first word', to('2001:db9::53', 53)],
  ])('passes %s', (_, frame) => {
    expect(run(FILTER, frame)).toBe('pass');
  });

  it.each([
    ['ipv4', V4, 42],
    ['ipv6', V6, 62],
    ['tagged', withTags(V6, 0x8100), 66],
  ])('passes %s frames of every length that has no UDP header', (_, frame, headers) => {
    for (let length = 0; length < frame.length; length++) {
      expect(run(FILTER, Buffer.from(frame.subarray(0, length)))).toBe(length < headers ? 'pass' : 'take');
    }
  });

  it('passes all tagged frames if the node uses no VLAN', () => {
    const filter = assembleFilter({ targets: TARGETS, vlans: [], mac: NODE_MAC }, MAP);
    expect([V4, withTags(V4, 0x8100)].map((frame) => run(filter, frame))).toEqual(['take', 'pass']);
  });

  it('has space for the largest number of addresses, and rejects more', () => {
    const many = Array.from({ length: MAX_TARGETS }, (_, i) => ({
      address: Uint8Array.from([...Array(15).fill(0x20), i]),
      port: 53,
    }));
    const filterOf = (targets: typeof TARGETS) => assembleFilter({ targets, vlans: [], mac: NODE_MAC }, MAP);
    expect(run(filterOf(many), V4)).toBe('pass');
    expect(() => filterOf([...many, ...TARGETS])).toThrow('256');
  });
});

describe('BpfAssembler', () => {
  it('rejects jumps backward and to missing labels', () => {
    const code = new BpfAssembler();
    code.label('before');
    code.jumpIfEqual(1, 0, 'before');
    expect(() => code.assemble()).toThrow('before');
  });
});
