// Frames of queries from one client to one node, for tests without a network.

import { encodeUdpFrame } from './frames.ts';

const CLIENT_MAC = Uint8Array.of(2, 0, 0, 0, 0, 0xc1);
export const NODE_MAC = Uint8Array.of(2, 0, 0, 0, 0, 0x50);

export const CLIENT = {
  ipv4: { mac: CLIENT_MAC, address: '198.51.100.7', port: 40_000 },
  ipv6: { mac: CLIENT_MAC, address: '2001:db8:1::7', port: 40_000 },
};
export const NODE = {
  ipv4: { mac: NODE_MAC, address: '192.0.2.1', port: 53 },
  ipv6: { mac: NODE_MAC, address: '2001:db8::53', port: 53 },
};

export type Family = keyof typeof CLIENT;

/** @param source replaces the client's address */
export function frameOf(family: Family, payload: Uint8Array, source?: string, port?: number): Buffer {
  const client = CLIENT[family];
  const from = { ...client, address: source ?? client.address, port: port ?? client.port };
  return encodeUdpFrame({ from, to: NODE[family] }, payload);
}

/** Inserts VLAN tags with these types, outermost first. */
export function withTags(frame: Uint8Array, ...types: number[]): Buffer {
  const tags = types.flatMap((type, i) => [type >> 8, type & 0xff, 0x60, i + 1]);
  return Buffer.concat([frame.subarray(0, 12), Uint8Array.from(tags), frame.subarray(12)]);
}
