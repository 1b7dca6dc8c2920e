import { describe, expect, it } from 'vitest';
import { printName } from '../../../src/dns/name.ts';
import { isOfMail, learnNames, providerHosts } from '../../../src/resolver/scan/learn-names.ts';
import { name } from '../../support/world/zone-exchange.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const DOMAIN = name('shop.com');

function learn(text: string): string[] {
  return recordsOf(`x.shop.com. 60 ${text}`).flatMap(({ type, rdata }) =>
    learnNames(DOMAIN, type, rdata).map(printName),
  );
}

function hosts(text: string): string[] {
  return recordsOf(`shop.com. 60 ${text}`).flatMap(({ type, rdata }) => providerHosts(type, rdata));
}

describe('names are learned', () => {
  it.each([
    ['MX 10 Mail.shop.com.', ['mail.shop.com.']],
    ['MX 10 mail.host.net.', []],
    ['NS ns1.shop.com.', ['ns1.shop.com.']],
    ['CNAME shop.com.', []],
    ['SRV 0 0 5060 sip.shop.com.', ['sip.shop.com.']],
    ['HTTPS 1 front.shop.com. alpn=h2', ['front.shop.com.']],
    [
      'TXT "v=spf1 a:A.shop.com mx:b.shop.com/24 ~include:c.shop.com redirect=d.shop.com"',
      ['a', 'b', 'c', 'd'].map((each) => `${each}.shop.com.`),
    ],
    ['TXT "v=spf1 inclu" "de:joined.shop.com -all"', ['joined.shop.com.']],
    ['TXT "v=spf1 exists:%{i}._spf.shop.com a mx a:..shop.com -all"', []],
    ['TXT "v=spf10 a:a.shop.com"', []],
    [
      'TXT "v=DMARC1; p=none; rua=mailto:a@one.shop.com!10m,mailto:b@two.shop.com; ruf=mailto:c@host.net"',
      ['one.shop.com.', 'two.shop.com.'],
    ],
    ['TXT "v=TLSRPTv1; rua=mailto:a@tls.shop.com"', ['tls.shop.com.']],
    ['TXT "see a.shop.com"', []],
    ['A 5.6.7.8', []],
  ])('from %s', (text, names) => {
    expect(learn(text)).toEqual(names);
  });
});

describe('of a text that is there to make work', () => {
  const spf = (terms: readonly string[]) =>
    `TXT ${['v=spf1', ...terms].map((each) => `"${each} "`).join(' ')}`;

  it('so much is read', () => {
    const padding = Array.from({ length: 20 }, () => 'x'.repeat(250));
    expect(learn(spf([...padding.slice(0, 15), 'a:near.shop.com']))).toEqual(['near.shop.com.']);
    expect(learn(spf([...padding, 'a:far.shop.com']))).toEqual([]);
  });

  it('so many names are learned', () => {
    const text = spf(Array.from({ length: 150 }, (_, i) => `a:h${i}.shop.com`));
    expect(learn(text)).toHaveLength(100);
    expect(hosts(text)).toHaveLength(100);
  });

  it('an address is as long as one can be', () => {
    const report = (local: string) => `TXT "v=DMARC1; p=none; rua=mailto:${local}@to.shop.com"`;
    expect(learn(report('a'.repeat(64)))).toEqual(['to.shop.com.']);
    expect(learn(report('a'.repeat(65)))).toEqual([]);
  });
});

it('mail providers are shown by MX and SPF', () => {
  expect(hosts('MX 1 ASPMX.L.Google.com.')).toEqual(['aspmx.l.google.com']);
  expect(hosts('TXT "v=spf1 include:SendGrid.net -all"')).toEqual(['sendgrid.net']);
  expect(hosts('TXT "v=DMARC1; rua=mailto:a@sendgrid.net"')).toEqual([]);
});

it('providers are shown by aliases and proofs too', () => {
  expect(hosts('CNAME U1.wl.SendGrid.net.')).toEqual(['u1.wl.sendgrid.net']);
  expect(hosts('TXT "MS=ms123"')).toEqual(['outlook.com']);
  expect(hosts('A 5.6.7.8')).toEqual([]);
});

it.each([
  ['MX 1 mail.host.net.', true],
  ['TXT "v=spf1 ip4:5.6.7.8 -all"', true],
  ['TXT "hello"', false],
])('%s has to do with mail: %s', (text, is) => {
  for (const { type, rdata } of recordsOf(`shop.com. 60 ${text}`)) expect(isOfMail(type, rdata)).toBe(is);
});
