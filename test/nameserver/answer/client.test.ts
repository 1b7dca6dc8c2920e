import { expect, test } from 'vitest';
import { addressOctets, isLoopback } from '../../../src/nameserver/answer/client.ts';

test.each([
  ['192.0.2.255', 'c00002ff'],
  ['0.0.0.0', '00000000'],
  ['2001:db8::1', '20010db8000000000000000000000001'],
  ['::1', '00000000000000000000000000000001'],
  ['fe80::2%eth0', 'fe800000000000000000000000000002'],
])('the octets of %s', (text, hex) => {
  expect(Buffer.from(addressOctets(text)).toString('hex')).toBe(hex);
});

test('loopback is 127.0.0.0/8 and ::1', () => {
  for (const text of ['127.0.0.1', '127.9.9.9', '::1'])
    expect(isLoopback(addressOctets(text)), text).toBe(true);
  for (const text of ['128.0.0.1', '192.0.2.1', '::', '::2', '2001:db8::1', '100::1']) {
    expect(isLoopback(addressOctets(text)), text).toBe(false);
  }
});

test('an address stands anywhere in a buffer', () => {
  const buffer = Uint8Array.of(127, 10, 0, 0, 1, 127, 0, 0, 1);
  expect(isLoopback(buffer, 1, 4)).toBe(false);
  expect(isLoopback(buffer, 5, 4)).toBe(true);
});
