import { expect, it } from 'vitest';
import {
  addressOctets,
  isInNetwork,
  type Network,
  networksOf,
  parseNetwork,
} from '../../../src/dns/record/network.ts';

it.each([
  ['10.0.0.0/8', '10.255.255.255', true],
  ['10.0.0.0/8', '11.0.0.0', false],
  ['10.9.9.9/8', '10.1.1.1', true], // bits after the prefix are ignored
  ['192.0.2.7', '192.0.2.7', true],
  ['192.0.2.7', '192.0.2.6', false],
  ['0.0.0.0/0', '255.255.255.255', true],
  ['0.0.0.0/0', '::', false],
  ['2001:db8::/33', '2001:db8:7fff::1', true],
  ['2001:db8::/33', '2001:db8:8000::1', false],
])('%s has %s: %s', (network, address, expected) => {
  const octets = addressOctets(address) as Uint8Array;
  expect(isInNetwork(parseNetwork(network) as Network, octets)).toBe(expected);
});

const WRONG = '|10.0.0.0/33|::/129|10.0.0.0/8/8|10.0.0.0/x|10.0.0/8|host|/8|10.0.0.0/|10/8|10.0.0.0/-1';
const ODD = '10.0.0.0/8 |10.0.0.0/1e1|10.0.0.0/0008|fe80::1%lo/64';
it.each(`${WRONG}|${ODD}`.split('|'))('%j is none', (text) => {
  expect(parseNetwork(text)).toBeUndefined();
  expect(() => networksOf(text)).toThrow(RangeError);
});
