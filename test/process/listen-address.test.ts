import { describe, expect, it } from 'vitest';
import { parseListenAddress, printListenAddress } from '../../src/process/listen-address.ts';

describe('an address with a port', () => {
  it.each([
    ['127.0.0.1:5300', { address: '127.0.0.1', port: 5300 }],
    ['0.0.0.0:1', { address: '0.0.0.0', port: 1 }],
    ['[::1]:65535', { address: '::1', port: 65535 }],
    ['[fe80::1%eth0]:53', { address: 'fe80::1%eth0', port: 53 }],
  ])('%s is read, and printed as it was', (text, address) => {
    expect(parseListenAddress(text)).toEqual(address);
    expect(printListenAddress(address)).toBe(text);
  });

  it.each([
    '',
    '127.0.0.1',
    '127.0.0.1:',
    '127.0.0.1:0',
    '127.0.0.1:65536',
    '::1:53',
    '[127.0.0.1]:53',
    '[::1]',
    'localhost:53',
    ' 127.0.0.1:53',
  ])('"%s" is none', (text) => {
    expect(parseListenAddress(text)).toBeUndefined();
  });
});
