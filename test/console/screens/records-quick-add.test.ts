import { describe, expect, it } from 'vitest';
import { fullNameOf } from '../../../console/src/screens/records/owner-name.ts';
import { readQuickLine } from '../../../console/src/screens/records/quick-add.ts';

const DOMAIN = 'shop.example';
const read = (line: string) => {
  const found = readQuickLine(line, DOMAIN);
  if (found === undefined || 'problem' in found) return found?.problem;
  const { name, ttl, type, mx_priority, destination } = found.record;
  return [name, ttl, type, mx_priority, destination].filter((text) => text !== '').join(' | ');
};

describe('a line for one record', () => {
  it.each([
    ['www A 192.0.2.1', 'www | A | 192.0.2.1'],
    ['  www\ta  192.0.2.1 ', 'www | A | 192.0.2.1'],
    ['www 300 IN A 192.0.2.1', 'www | 300 | A | 192.0.2.1'],
    ['www IN 300 A 192.0.2.1', 'www | 300 | A | 192.0.2.1'],
    ['www in A 192.0.2.1', 'www | A | 192.0.2.1'],
    ['www 1h30m A 192.0.2.1', 'www | 5400 | A | 192.0.2.1'],
    ['IN A 192.0.2.1', '@ | A | 192.0.2.1'],
    ['www 192.0.2.1', 'www | A | 192.0.2.1'],
    ['www 60 2001:db8::1', 'www | 60 | AAAA | 2001:db8::1'],
    ['A www 192.0.2.1', 'www | A | 192.0.2.1'],
    ['A 192.0.2.1', '@ | A | 192.0.2.1'],
    ['a A 192.0.2.1', 'a | A | 192.0.2.1'],
    ['ns NS ns1.example.net', 'ns | NS | ns1.example.net'],
    ['300 IN A 192.0.2.1', '300 | A | 192.0.2.1'],
    ['*.dev CNAME @', '*.dev | CNAME | shop.example'],
    ['blog CNAME web', 'blog | CNAME | web.shop.example'],
    ['blog CNAME web.host.net.', 'blog | CNAME | web.host.net.'],
    ['@ ALIAS host.example.net', '@ | ANAME | host.example.net'],
    ['@ MX 10 mail', '@ | MX | 10 | mail.shop.example'],
    ['MX 10 mail.example.net', '@ | MX | 10 | mail.example.net'],
    ['@ MX 0 .', '@ | MX | 0 | .'],
    ['@ TXT v=spf1 mx -all', '@ | TXT | v=spf1 mx -all'],
    ['TXT "v=spf1 mx" " -all"', '@ | TXT | v=spf1 mx -all'],
    ['_dmarc TXT v=DMARC1; p=none', '_dmarc | TXT | v=DMARC1; p=none'],
    ['txt TXT "a \\"b\\" ; c"', 'txt | TXT | a "b" ; c'],
    ['_sip._tcp SRV 10 5 5060 sip', '_sip._tcp | SRV | 10 5 5060 sip.shop.example'],
    ['@ CAA 0 issue letsencrypt.org', '@ | CAA | 0 issue "letsencrypt.org"'],
    ['@ HTTPS 1 .', '@ | HTTPS | 1 .'],
    ['@ HTTPS 1 . alpn="h2,h3" port=8443', '@ | HTTPS | 1 . alpn="h2,h3" port=8443'],
    ['odd TYPE65400 \\# 1 00', 'odd | TYPE65400 | \\# 1 00'],
  ])('is read: %s', (line, expected) => expect(read(line)).toBe(expected));

  it('may end in a comment', () => {
    expect(readQuickLine('www A 192.0.2.1 ; the origin', DOMAIN)).toMatchObject({
      record: { destination: '192.0.2.1', comment: 'the origin' },
    });
  });

  it.each([
    ['www', 'noType', ''],
    ['www shop.example.net', 'noType', ''],
    ['CNAME', 'noName', 'CNAME'],
    ['CNAME www', 'noValue', 'CNAME'],
    ['www A', 'noValue', 'A'],
    ['www 300 IN A', 'noValue', 'A'],
    ['www FOO 192.0.2.1 x', 'unknownType', 'FOO'],
    ['www 5x A 192.0.2.1', 'unknownWord', '5x'],
    ['www CH A 192.0.2.1', 'otherClass', 'CH'],
    ['www A 192.0.2', 'notIpv4', '192.0.2'],
    ['www A 2001:db8::1', 'notIpv4', '2001:db8::1'],
    ['www AAAA 192.0.2.1', 'notIpv6', '192.0.2.1'],
    ['@ MX mail', 'noPriority', 'MX'],
    ['@ MX 10', 'noValue', 'MX'],
    ['_sip._tcp SRV 10 5', 'noPart', 'SRV.port'],
    ['@ CAA 0 issue', 'noPart', 'CAA.value'],
  ])('has a problem: %s (%s)', (line, kind, text) => expect(read(line)).toEqual({ kind, text }));

  it('may be empty', () => expect(readQuickLine('  ', DOMAIN)).toBeUndefined());

  it('is previewed with the full name', () => {
    for (const name of ['@', 'shop.example.', 'shop.example']) expect(fullNameOf(name, DOMAIN)).toBe(DOMAIN);
    for (const name of ['www', 'www.shop.example']) expect(fullNameOf(name, DOMAIN)).toBe('www.shop.example');
    expect(fullNameOf('www.shop.test.', DOMAIN)).toBe('www.shop.test.');
  });
});
