import { describe, expect, it } from 'vitest';
import { parseName, printName } from '../../../src/dns/name.ts';
import { judgeDomainName, parseDomainName } from '../../../src/zone/domain/domain-name.ts';
import { wordsOf } from '../../support/tests/rows-of.ts';

describe('reading', () => {
  it.each([
    ['example.com', 'example.com.', 'example.com'],
    ['EXAMPLE.Com.', 'example.com.', 'example.com'],
    ['bücher.example', 'xn--bcher-kva.example.', 'bücher.example'],
    ['XN--BCHER-KVA.example.', 'xn--bcher-kva.example.', 'bücher.example'],
    ['faß.de', 'xn--fa-hia.de.', 'faß.de'],
    ['пример。рф', 'xn--e1afmkfd.xn--p1ai.', 'пример.рф'],
    ['2.0.192.in-addr.arpa', '2.0.192.in-addr.arpa.', '2.0.192.in-addr.arpa'],
    ['0/25.2.0.192.in-addr.arpa', '0/25.2.0.192.in-addr.arpa.', '0/25.2.0.192.in-addr.arpa'],
    ['8.b.d.0.1.0.0.2.ip6.arpa', '8.b.d.0.1.0.0.2.ip6.arpa.', '8.b.d.0.1.0.0.2.ip6.arpa'],
    ['_domainkey.example.com', '_domainkey.example.com.', '_domainkey.example.com'],
    ['ab--cd.com', 'ab--cd.com.', 'ab--cd.com'],
  ])('%s is %s', (text, full, unicode) => {
    const read = parseDomainName(text);
    expect(read.kind === 'name' ? [printName(read.name), read.unicode] : read.message).toEqual([
      full,
      unicode,
    ]);
  });

  it.each([
    ...'|.|..|a..b|.example.com|example.com..|-a.com|a-.com|a_b.com|*.example.com|@|exa mple.com'.split('|'),
    ...'example.com/|http://example.com|user@example.com|a\\.b.com|xn--a.com|xn--.com|ab--ü.com'.split('|'),
    ...'ü-.com|\u0300a.com|a\u200db.com|1א.com|0/25.example.com'.split('|'),
    `${'a'.repeat(64)}.com`,
    `${'a.'.repeat(126)}com`,
    'a'.repeat(5000),
  ])('"%s" is refused', (text) => {
    expect(parseDomainName(text).kind).toBe('problem');
  });

  it('takes 253 characters', () => {
    const name = `${'a.'.repeat(125)}com`;
    expect(name.length).toBe(253);
    expect(parseDomainName(name).kind).toBe('name');
    expect(parseDomainName(`a${name}`).kind).toBe('problem');
  });
});

describe('names that no account can have', () => {
  const judge = (text: string, allowReserved = false) =>
    judgeDomainName(parseName(text), { allowReserved, dnsMode: 'managed' })?.code;

  it.each([
    ['com.', 'single_label'],
    ['localhost.', 'single_label'],
    ['.', 'single_label'],
    ['co.uk.', 'public_suffix'],
    ['xn--55qx5d.cn.', 'public_suffix'],
    ['anything.ck.', 'public_suffix'],
    ['in-addr.arpa.', 'public_suffix'],
    ['a.localhost.', 'reserved'],
    ['printer.local.', 'reserved'],
    ['a.invalid.', 'reserved'],
    ['a.onion.', 'reserved'],
    ['home.arpa.', 'reserved'],
    ['a.home.arpa.', 'reserved'],
    ['example.com.', 'reserved'],
    ['www.example.org.', 'reserved'],
    ['shop.example.', 'reserved'],
    ['shop.test.', 'reserved'],
    ['192.0.2.1.', 'not_a_hostname'],
    ['_a.com.', 'not_a_hostname'],
  ])('%s: %s', (text, code) => {
    expect(judge(text)).toBe(code);
  });

  it.each(
    wordsOf(`
    zonefleet.com. shop.co.uk. www.ck. github.io. a.b.c.unknown-tld. first.unknown-tld.
    2.0.192.in-addr.arpa. 0/25.2.0.192.in-addr.arpa. 8.b.d.0.1.0.0.2.ip6.arpa. examples.com.
    mytest. _domainkey.zonefleet.com.`),
  )('%s passes', (text) => {
    expect(judge(text)).toBe(text === 'mytest.' ? 'single_label' : undefined);
  });

  it('reserved names pass where they are allowed, localhost never', () => {
    const allowed = ['shop.test.', 'example.com.', 'a.example.', 'a.localhost.'];
    expect(allowed.map((text) => judge(text, true))).toEqual([undefined, undefined, undefined, 'reserved']);
  });

  it('in external mode a name leaves room for the name of the TXT record', () => {
    const start = `${'a'.repeat(49)}.`.repeat(4);
    const code = (characters: number, dnsMode: 'managed' | 'external') => {
      const name = parseName(`${start}${'b'.repeat(characters - 204)}.com.`);
      return judgeDomainName(name, { allowReserved: false, dnsMode })?.code;
    };
    const codes = [code(238, 'external'), code(239, 'external'), code(253, 'managed')];
    expect(codes).toEqual([undefined, 'too_long', undefined]);
  });
});
