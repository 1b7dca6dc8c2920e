import { expect, test } from 'vitest';
import { addressOctets, networksOf } from '../../../src/dns/record/network.ts';
import { findPeer, type KnownPeer } from '../../../src/nameserver/transfer/access.ts';

const peer = (networks: readonly string[], keyId?: number): KnownPeer => ({
  networks: networksOf(...networks),
  keyId,
});

test.each([
  ['any source, with the key, for a peer that has only a key', peer([], 1), '192.0.2.1', 1, true],
  ['no unsigned message for a peer with a key', peer([], 1), '192.0.2.1', undefined, false],
  ['no message signed with another key', peer([], 1), '192.0.2.1', 2, false],
  ['a source in a network', peer(['198.51.100.0/24', '192.0.2.0/30']), '192.0.2.3', undefined, true],
  ['a signed message for a peer without a key', peer(['192.0.2.0/30']), '192.0.2.3', 5, true],
  ['no source outside the networks', peer(['192.0.2.0/30']), '192.0.2.4', undefined, false],
  ['a source in a network with the key', peer(['2001:db8::/32'], 1), '2001:db8:1::1', 1, true],
  ['no source in a network without the key', peer(['2001:db8::/32'], 1), '2001:db8:1::1', undefined, false],
  ['no source outside the networks with the key', peer(['2001:db8::/32'], 1), '2001:db9::1', 1, false],
  ['an IPv4-mapped source in an IPv4 network', peer(['192.0.2.0/24']), '::ffff:192.0.2.1', undefined, true],
  ['no IPv6 source in an IPv4 network', peer(['0.0.0.0/0']), '2001:db8::1', undefined, false],
  ['nothing for a peer without networks and key', peer([]), '192.0.2.1', undefined, false],
  ['nothing for a peer without networks and key, if signed', peer([]), '192.0.2.1', 1, false],
])('a peer matches %s', (_, known, address, keyId, isMatch) => {
  const sender = { address: addressOctets(address) as Uint8Array, keyId };
  expect(findPeer([known], sender)).toBe(isMatch ? known : undefined);
});

test.each<[string, ('off' | 'strict')[], string]>([
  ['a strict peer after an equal one that is not strict', ['off', 'strict'], 'strict'],
  ['a strict peer before an equal one that is not strict', ['strict', 'off'], 'strict'],
])('%s decides', (_, modes, found) => {
  const peers = modes.map((tls) => ({ ...peer(['192.0.2.0/24']), tls }));
  expect(findPeer(peers, { address: Uint8Array.of(192, 0, 2, 1), keyId: undefined })?.tls).toBe(found);
});

test('a strict peer is not found for messages that the key or the address of another peer identifies', () => {
  const strict = { ...peer(['192.0.2.0/24']), tls: 'strict' as const };
  const [signing, listening] = [peer([], 1), { ...peer(['192.0.2.0/24']), addresses: ['192.0.2.1'] }];
  const found = (other: KnownPeer, keyId?: number) =>
    findPeer([strict, other], { address: Uint8Array.of(192, 0, 2, 1), keyId });
  expect([found(signing, 1), found(signing, 2), found(listening)]).toEqual([signing, strict, listening]);
});

test('the first peer that matches is returned, one with a key first', () => {
  const at = (address: string, keyId: number) => ({ ...peer([], keyId), addresses: [address] });
  const peers = [
    peer([], 2),
    peer(['192.0.2.0/24']),
    peer(['0.0.0.0/0']),
    at('192.0.2.9', 3),
    at('192.0.2.1', 3),
  ];
  const found = (keyId: number) => findPeer(peers, { address: Uint8Array.of(192, 0, 2, 1), keyId });
  expect([found(1), found(3)].map((one) => one && peers.indexOf(one))).toEqual([1, 4]);
});
