// Which addresses are asked: the special-purpose registries as a table, with the neighbours of each prefix.

import { describe, expect, it } from 'vitest';
import { type Network, parseNetwork } from '../../../src/dns/record/network.ts';
import { isAskable } from '../../../src/resolver/state/address-rules.ts';
import { wordsOf } from '../../support/tests/rows-of.ts';

/** First and last address of what is never asked. */
const FORBIDDEN = `
  0.0.0.0           0.255.255.255      this network, RFC 791
  10.0.0.0          10.255.255.255     private, RFC 1918
  100.64.0.0        100.127.255.255    shared, RFC 6598
  127.0.0.0         127.255.255.255    loopback, RFC 1122
  169.254.0.0       169.254.255.255    link-local, RFC 3927
  172.16.0.0        172.31.255.255     private, RFC 1918
  192.0.0.0         192.0.0.255        protocol assignments, RFC 6890
  192.0.2.0         192.0.2.255        documentation, RFC 5737
  192.88.99.0       192.88.99.255      6to4 relays, RFC 7526
  192.168.0.0       192.168.255.255    private, RFC 1918
  198.18.0.0        198.19.255.255     benchmarks, RFC 2544
  198.51.100.0      198.51.100.255     documentation, RFC 5737
  203.0.113.0       203.0.113.255      documentation, RFC 5737
  224.0.0.0         239.255.255.255    multicast, RFC 5771
  240.0.0.0         255.255.255.255    reserved and broadcast, RFC 1112, RFC 919
  ::                ::                 unspecified, RFC 4291
  ::1               ::1                loopback, RFC 4291
  ::7f00:1          ::7f00:1           IPv4-compatible, RFC 4291
  ::808:808         ::808:808          IPv4-compatible, RFC 4291
  ::ffff:127.0.0.1  ::ffff:127.0.0.1   IPv4-mapped, RFC 4291
  ::ffff:8.8.8.8    ::ffff:8.8.8.8     IPv4-mapped, never on the wire
  64:ff9b:1::       64:ff9b:1:ffff:ffff:ffff:ffff:ffff  local NAT64, RFC 8215
  100::             100::ffff:ffff:ffff:ffff            discard, RFC 6666
  100:0:0:1::       100:0:0:1:ffff:ffff:ffff:ffff       dummy, RFC 9780
  2001::            2001:0:ffff:ffff:ffff:ffff:ffff:ffff  Teredo, RFC 4380
  2001:2::          2001:2:0:ffff:ffff:ffff:ffff:ffff     benchmarks, RFC 5180
  2001:10::         2001:1f:ffff:ffff:ffff:ffff:ffff:ffff ORCHID, RFC 4843
  2001:20::         2001:2f:ffff:ffff:ffff:ffff:ffff:ffff ORCHIDv2, RFC 7343
  2001:100::        2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff protocol assignments, RFC 2928
  2001:db8::        2001:db8:ffff:ffff:ffff:ffff:ffff:ffff documentation, RFC 3849
  3fff::            3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff documentation, RFC 9637
  5f00::            5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff segment routing, RFC 9602
  4000::            fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff not given out, RFC 4291
  fc00::            fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff unique local, RFC 4193
  fe80::            febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff link-local, RFC 4291
  fec0::            feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff site-local, RFC 3879
  ff00::            ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff multicast, RFC 4291
`;

const ASKABLE = `
  1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 169.253.255.255 169.255.0.0
  172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.0.1.255 192.0.3.0 192.88.98.255 192.88.100.0
  192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0
  223.255.255.255 8.8.8.8 192.31.196.1 192.175.48.1
  2000:: 2001:200:: 2001:db7:ffff:ffff:ffff:ffff:ffff:ffff 2001:db9:: 2001:500:2::c 2001:7fd::1 2003:: 2620:4f:8000::1
  2001:4:112::1 2801:1b8:10::b 3ffe:ffff:: 3fff:1000:: 3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
`;

const networks = (...texts: string[]) => texts.map((text) => parseNetwork(text) as Network);
const askable = (addresses: readonly string[], allowed: readonly Network[] = []) =>
  addresses.filter((address) => isAskable(address, allowed));

describe('isAskable', () => {
  it.each(
    FORBIDDEN.trim()
      .split('\n')
      .map((line) => wordsOf(line)),
  )('is false from %s to %s: %s %s %s %s', (first = '', last = '') => {
    expect(askable([first, last])).toEqual([]);
  });

  it.each(wordsOf(ASKABLE))('is true for %s', (address) => {
    expect(isAskable(address, [])).toBe(true);
  });

  // packets to these end at the IPv4 address within: RFC 3056 §2, RFC 6052 §2.1
  it.each([
    ['2002:#::1', '6to4'],
    ['64:ff9b::#', 'NAT64'],
  ])('judges an address in %s by the embedded IPv4 address (%s)', (form) => {
    const private4 = '7f00:1 a00:1 a9fe:a9fe c0a8:1 ac10:1 6440:1 e000:1 ffff:ffff 0:0';
    expect(askable(wordsOf(private4).map((hex) => form.replace('#', hex)))).toEqual([]);
    expect(isAskable(form.replace('#', '808:808'), [])).toBe(true);
  });

  it('is false for a text that is not an address', () => {
    const texts = 'localhost 8.8.8 8.8.8.8. 010.8.8.8 0x08.8.8.8 134744072 8.8.8.8/32 2001:500:2::c%eth0';
    expect(askable(['', ' 8.8.8.8', ...wordsOf(`${texts} [2001:500:2::c] 2001:500:2 :::`)])).toEqual([]);
  });

  it('is true for what is allowed, and for nothing else that is forbidden', () => {
    const allowed = networks('127.0.0.0/8', '10.1.2.0/23', 'fd00:1::/32', '::1/128');
    const yes = wordsOf('127.0.0.1 10.1.3.255 fd00:1:ffff:: ::1 8.8.8.8');
    const no = wordsOf('10.1.4.0 10.1.1.255 fd00:2:: ::2 ::ffff:127.0.0.1 64:ff9b::7f00:1 2002:7f00:1::1');
    expect(askable([...yes, ...no], allowed)).toEqual(yes);
    // a prefix without bits allows all of its family
    expect(askable(['127.0.0.1', '::1'], networks('0.0.0.0/0'))).toEqual(['127.0.0.1']);
  });
});
