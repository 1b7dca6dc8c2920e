import { describe, expect, it } from 'vitest';
import type { Scan } from '../../../src/checks/scan/scan.ts';
import type { Message } from '../../../src/dns/message/message.ts';
import { RCODE } from '../../../src/dns/message/rcodes.ts';
import { printName } from '../../../src/dns/name.ts';
import { printRdata } from '../../../src/dns/record/rdata.ts';
import { NSEC } from '../../../src/dns/record/types/dnssec.ts';
import { TYPE, typeMnemonic } from '../../../src/dns/type-codes.ts';
import type { ScanOptions, ScanProgress } from '../../../src/resolver/scan/scan-zone.ts';
import { itemsOf, rowsOf, wordsOf } from '../../support/tests/rows-of.ts';
import { COM_A, COM_B, comInternet, internet, testResolver } from '../../support/world/test-resolver.ts';
import {
  answering,
  type Conduct,
  name,
  recordsIn,
  reply,
  type ZoneExchange,
  zone,
} from '../../support/world/zone-exchange.ts';

const A = '5.5.5.5';
const B = '5.5.5.6';
const DELEGATED = `shop NS ns1.shop\nshop NS ns2.shop\nns1.shop A ${A}\nns2.shop A ${B}`;
const OWN = `@ NS ns1\n@ NS ns2\nns1 A ${A}\nns2 A ${B}`;
/** Found in every zone of these tests. */
const ALWAYS = [
  'shop.com. NS ns1.shop.com.',
  'shop.com. NS ns2.shop.com.',
  `ns1.shop.com. A ${A}`,
  `ns2.shop.com. A ${B}`,
];
const FEW = ['www', 'mail', 'api', 'app', 'dev', 'shop', 'blog'];
const HASH = 'ab'.repeat(32);

/** The domain `shop.com` at two addresses. */
function shop(text: string, conduct?: Conduct): ZoneExchange {
  const own = zone('shop.com.', `${OWN}\n${text.replaceAll(/\n +/g, '\n')}`);
  const exchange = comInternet(DELEGATED).serve(A, own).serve(B, own);
  return conduct === undefined ? exchange : exchange.behave(A, conduct).behave(B, conduct);
}

function scan(
  exchange: ZoneExchange,
  options: ScanOptions = { words: FEW },
  domain = 'shop.com',
): Promise<Scan> {
  return testResolver(exchange).resolver.scanZone(name(domain), options);
}

const told = ({ records }: Scan): string[] =>
  records.map(
    ({ name: owner, type, rdata }) => `${printName(owner)} ${typeMnemonic(type)} ${printRdata(type, rdata)}`,
  );
const beyondAlways = (seen: Scan) => told(seen).filter((line) => !ALWAYS.includes(line));

async function found(exchange: ZoneExchange, options?: ScanOptions): Promise<string[]> {
  const seen = await scan(exchange, options);
  expect(seen.failure).toBeUndefined();
  return beyondAlways(seen);
}

/** The zone's contents | its records | words | what is found. Names are relative to shop.com. */
const WHOLE = rowsOf(`
a type beside others at a wildcard | * A 5.6.7.1 / * MX 10 mail / www A 5.6.7.2 | www mail api | * A 5.6.7.1 / * MX 10 mail.~ / www A 5.6.7.2
an alias as a wildcard | * CNAME www.host.net. / blog CNAME blog.host.net. / host A 5.6.7.1 | blog host | * CNAME www.host.net. / blog CNAME blog.host.net. / host A 5.6.7.1
other types at a name that a wildcard covers | * A 5.6.7.1 / mail A 5.6.7.1 / mail TXT "here" / blog A 5.6.7.1 | mail blog | * A 5.6.7.1 / mail A 5.6.7.1 / mail TXT "here"
wildcards below names | app A 5.6.7.1 / *.app A 5.6.7.2 / *.dev CNAME app | app dev | app A 5.6.7.1 / *.app A 5.6.7.2 / *.dev CNAME app.~
wildcards below a wildcard | * A 5.6.7.1 / *.app A 5.6.7.2 / *.preview CNAME www.host.net. / api A 5.6.7.1 | app preview api www | * A 5.6.7.1 / *.app A 5.6.7.2 / *.preview CNAME www.host.net.
nothing but a wildcard | * A 5.6.7.1 / * MX 1 mail | www mail api app | * A 5.6.7.1 / * MX 1 mail.~
names below an empty one, and numbered siblings | api.dev A 5.6.7.1 / web-07 A 5.6.7.7 / web-08 A 5.6.7.8 / web-09 A 5.6.7.9 / web-10 A 5.6.7.10 / www CNAME web-08 / api A 5.6.7.2 / staging-api A 5.6.7.3 | www api dev | api A 5.6.7.2 / api.dev A 5.6.7.1 / staging-api A 5.6.7.3 / web-07 A 5.6.7.7 / web-08 A 5.6.7.8 / web-09 A 5.6.7.9 / web-10 A 5.6.7.10 / www CNAME web-08.~
a delegation with glue and DS, which ends the descent | dev NS ns.dev / dev NS ns1 / ns.dev A 5.6.7.1 / dev DS 1 8 2 ${HASH} / api.dev A 5.6.7.2 | dev api | dev NS ns.dev.~ / dev NS ns1.~ / dev DS 1 8 2 ${HASH.toUpperCase()} / ns.dev A 5.6.7.1
a DNAME, which is not a delegation | dev DNAME shop.net. / dev A 5.6.7.1 / www A 5.6.7.3 | dev www | dev A 5.6.7.1 / dev DNAME shop.net. / www A 5.6.7.3
names of properties of objects | __proto__ TXT "a" / constructor A 5.6.7.1 / tostring A 5.6.7.2 | __proto__ constructor toString | __proto__ TXT "a" / constructor A 5.6.7.1 / tostring A 5.6.7.2`);

/** The reason for more names | the records | words | names that are found. */
const SOME = rowsOf(`
MX, NS, SRV, CNAME, SPF and reports | @ MX 10 gate-a / @ TXT "v=spf1 include:part.shop.com a:host-c.shop.com redirect=rest.shop.com" / gate-a A 5.6.7.1 / part TXT "v=spf1 ip4:5.6.7.2 -all" / rest TXT "v=spf1 mx:deep.host-d.shop.com -all" / deep.host-d MX 10 gate-a / host-c A 5.6.7.3 / _dmarc TXT "v=DMARC1; p=none; rua=mailto:x@to-us.shop.com" / to-us MX 10 gate-a / _sip._tcp SRV 0 0 5060 pbx-e / pbx-e A 5.6.7.4 / www CNAME front-f / front-f A 5.6.7.5 / _25._tcp.gate-a TLSA 3 1 1 ${HASH} | www mail | gate-a part rest deep.host-d host-c to-us pbx-e front-f _25._tcp.gate-a
MX and SPF of providers | @ MX 1 aspmx.l.google.com. / @ TXT "v=spf1 include:_spf.google.com include:4455.spf03.hubspotemail.net -all" / google._domainkey TXT "v=DKIM1; p=a" / hs1-4455._domainkey CNAME shop-com.hs01a.dkim.hubspotemail.net. / default._domainkey TXT "v=DKIM1; p=b" / _dmarc TXT "v=DMARC1; p=reject" | www | _dmarc default._domainkey google._domainkey hs1-4455._domainkey
a parked zone | @ A 5.6.7.8 / @ TXT "v=spf1 -all" / *._domainkey TXT "v=DKIM1; p=" / _domainconnect CNAME _domainconnect.host.net. | www | _domainconnect *._domainkey
a hidden wildcard | * A 5.6.7.1 / app A 5.6.7.1 / *.app A 5.6.7.2 | app | *.app
a university | library A 5.6.7.1 / moodle A 5.6.7.2 / weblogin A 5.6.7.3 / physics NS ns.host.net. / www.chem A 5.6.7.4 / math MX 1 mail.host.net. / www.math A 5.6.7.5 | library moodle | weblogin physics www.chem www.math
an Active Directory | _ldap._tcp SRV 0 100 389 dc-a / _gc._tcp SRV 0 100 389 dc-a / _kpasswd._udp SRV 0 100 389 dc-a / _ldap._tcp.dc._msdcs SRV 0 100 389 dc-a / _kerberos._tcp.dc._msdcs SRV 0 100 389 dc-a / _ldap._tcp.gc._msdcs SRV 0 100 389 dc-a / _ldap._tcp.default-first-site-name._sites SRV 0 100 389 dc-a / dc-a A 5.6.7.1 | www | _gc._tcp _kpasswd._udp _ldap._tcp.dc._msdcs _kerberos._tcp.dc._msdcs _ldap._tcp.gc._msdcs _ldap._tcp.default-first-site-name._sites dc-a
names that mail is sent from, and aliases | mail TXT "v=spf1 include:mailgun.org -all" / pdk1._domainkey.mail TXT "v=DKIM1; p=a" / email.mail CNAME mailgun.org. / api TXT "v=spf1 include:amazonses.com -all" / resend._domainkey TXT "v=DKIM1; p=b" / bounce.api MX 1 mail.host.net. / app CNAME 4455.group0.sites.hubspot.net. / hs1-4455._domainkey CNAME a.host.net. / blog CNAME acme.github.io. / _github-pages-challenge-acme TXT "abc" | mail api app blog | pdk1._domainkey.mail email.mail resend._domainkey bounce.api hs1-4455._domainkey _github-pages-challenge-acme
a domain that takes reports for others (RFC 7489 §7.1) | _dmarc TXT "v=DMARC1" / *._report._dmarc TXT "v=DMARC1" | www | *._report._dmarc
a zone of many languages | de CNAME www / fr CNAME www / sl CNAME www | de fr | sl`);

const zoneText = (cell?: string) => itemsOf(cell).join('\n');
const wordsIn = (cell = '') => ({ words: wordsOf(cell) });

describe('a scan', () => {
  it.each(WHOLE)('finds %s', async (_, text, words, expected) => {
    const lines = itemsOf(expected).map((line) =>
      line.replace(/^\S+/, '$&.shop.com.').replace('.~', '.shop.com.'),
    );
    expect(await found(shop(zoneText(text)), wordsIn(words))).toEqual(lines);
  });

  it.each(SOME)('finds more names because of %s', async (_, text, words, expected) => {
    const names = (await found(shop(zoneText(text)), wordsIn(words))).map((line) => line.split(' ')[0]);
    for (const each of wordsOf(expected ?? '')) expect(names).toContain(`${each}.shop.com.`);
  });

  it('does not guess from a single sign of a kind', async () => {
    const none = async (text: string, words: string[], hidden: string) =>
      expect((await found(shop(text), { words })).join()).not.toMatch(new RegExp(`\\b${hidden}\\.shop`));
    await none('library A 5.6.7.1\nweblogin A 5.6.7.3', ['library', 'moodle'], 'weblogin');
    await none('de CNAME www\nsl CNAME www', ['de', 'fr'], 'sl');
  });

  it('finds the types at the apex, and names of the list with all their types', async () => {
    const exchange = shop(`@ 600 A 5.6.7.8
      @ AAAA 2606::8
      @ MX 10 mail
      @ CAA 0 issue "ca.example.net"
      @ HTTPS 1 . alpn="h2"
      @ TXT "hello"
      www CNAME shop.com.
      mail A 5.6.7.9
      mail AAAA 2606::9
      mail TXT "v=spf1 a -all"
      nowhere-in-the-list A 5.6.7.10`);
    const seen = await scan(exchange);
    expect(told(seen)).toEqual([
      'shop.com. A 5.6.7.8',
      ...ALWAYS.slice(0, 2),
      'shop.com. MX 10 mail.shop.com.',
      'shop.com. TXT "hello"',
      'shop.com. AAAA 2606::8',
      'shop.com. HTTPS 1 . alpn=h2',
      'shop.com. CAA 0 issue "ca.example.net"',
      'mail.shop.com. A 5.6.7.9',
      'mail.shop.com. TXT "v=spf1 a -all"',
      'mail.shop.com. AAAA 2606::9',
      ...ALWAYS.slice(2),
      'www.shop.com. CNAME shop.com.',
    ]);
    expect(seen).toMatchObject({ domain: name('shop.com'), complete: true, shortfalls: [], wildcards: [] });
    expect(seen.records[0]?.ttl).toBe(600);
    expect(seen.queries).toBe(exchange.packets);
  });

  it('finds types of services, shells and telephones', async () => {
    const text = `@ NAPTR 10 10 "s" "SIP+D2T" "" _sip._tcp
      _sip._tcp SRV 0 0 5060 sip
      sip A 5.6.7.1
      sip NAPTR 10 10 "s" "SIP+D2U" "" _sip._udp
      _caldavs._tcp SRV 0 0 443 sip
      _caldavs._tcp TXT "path=/dav"
      git A 5.6.7.2
      git SSHFP 4 2 ${HASH}
      _443._tcp.www TLSA 3 1 1 ${HASH}`;
    const kinds = (await found(shop(text), { words: ['git', 'sip'] })).map((line) => line.split(' '));
    const shown = kinds.map(([owner = '', type]) => `${owner.replace(/\.?shop\.com\.$/, '') || '@'} ${type}`);
    for (const each of '@ NAPTR,sip NAPTR,_caldavs._tcp TXT,git SSHFP,_443._tcp.www TLSA'.split(','))
      expect(shown).toContain(each);
  });

  it('reports a name that its parent denies, unless it has records below', async () => {
    expect(await scan(comInternet(''))).toMatchObject({
      ...{ records: [], complete: true, failure: undefined },
      shortfalls: ['shop.com. does not exist: NXDOMAIN from the servers of com.'],
    });
    const inside = await scan(comInternet('www.shop A 5.6.7.8'));
    expect([told(inside), inside.shortfalls]).toEqual([['www.shop.com. A 5.6.7.8'], []]);
    const com = zone(
      'com.',
      '@ NS a.gtld.\n@ NS b.gtld.\nshop A 5.6.7.1\nwww.shop A 5.6.7.2\nother A 5.6.7.3',
    );
    const above = comInternet('').serve(COM_A, com).serve(COM_B, com);
    expect(told(await scan(above))).toEqual(['shop.com. A 5.6.7.1', 'www.shop.com. A 5.6.7.2']);
  });

  it('sends about as many queries as the list has names, half to each server', async () => {
    const exchange = shop('@ A 5.6.7.8\n@ MX 1 mail\nmail A 5.6.7.9\nwww A 5.6.7.8\napi A 5.6.7.8');
    const seen = await scan(exchange, {});
    expect(seen.complete).toBe(true);
    expect(seen.queries).toBeLessThan(1750);
    const at = (address: string) => exchange.asked.filter((line) => line.startsWith(`${address} `)).length;
    expect(Math.abs(at(A) - at(B))).toBeLessThan(20);
  });

  it('queries nothing below a nonexistent name', async () => {
    const exchange = shop('@ A 5.6.7.8');
    await scan(exchange);
    const names = exchange.asked.map((line) => line.split(' ')[1] as string);
    const below = names.filter((each) => /(_udp|_domainkey)\./.test(each)).sort();
    expect(below).toEqual(['_domainkey.shop.com.', '_udp.shop.com.']);
  });

  it('finds names below empty ones that a server denies (RFC 8020 §2)', async () => {
    const soa = { owner: name('shop.com'), type: TYPE.SOA, ttl: 600, rdata: [Buffer.alloc(22)] };
    const denial = reply({ aa: true, rcode: RCODE.NXDOMAIN, authorities: recordsIn([soa]) });
    const text = `@ MX 1 aspmx.l.google.com.
      google._domainkey TXT "v=DKIM1; p=a"
      s1._domainkey TXT "v=DKIM1; p=b"`;
    const exchange = shop(text, ({ name: owner }) => (owner.startsWith('_domainkey.') ? denial : undefined));
    expect((await found(exchange)).filter((line) => line.includes('_domainkey'))).toHaveLength(2);
  });

  it('omits a zone below it that the same servers serve', async () => {
    const ns = '@ NS ns.dev\n@ NS ns1.shop.com.';
    const below = zone('dev.shop.com.', `${ns}\nns A 5.6.7.1\n@ A 5.6.7.9\nwww A 5.6.7.2`);
    const exchange = shop('dev NS ns.dev\ndev NS ns1\nns.dev A 5.6.7.1\nwww A 5.6.7.3');
    exchange.serve(A, below).serve(B, below);
    expect(await found(exchange)).toEqual([
      'dev.shop.com. NS ns.dev.dev.shop.com.',
      'dev.shop.com. NS ns1.shop.com.',
      'www.shop.com. A 5.6.7.3',
    ]);
  });

  it('reads names from NSEC records', async () => {
    const exchange = shop('www A 5.6.7.1\nwho-would-think A 5.6.7.2', ({ honest }) => {
      const message = honest();
      if (message.rcode !== RCODE.NXDOMAIN) return message;
      const nsec = nsecOf('sub.shop.com', 'who-would-think.shop.com', [1, 46, 47]);
      return { ...message, authorities: [...message.authorities, ...nsec] };
    });
    expect(await found(exchange)).toContain('who-would-think.shop.com. A 5.6.7.2');
  });

  it('queries each number of a reverse zone, and deeper below those that exist', async () => {
    const own = zone(
      '6.5.in-addr.arpa.',
      '@ NS ns.host.net.\n9.8 PTR a.net.\n10.8 PTR b.net.\n*.77 PTR c.net.',
    );
    const exchange = internet(`5.in-addr.arpa NS ns.nic.arpa.\nns.nic.arpa. A ${A}`)
      .serve(A, zone('5.in-addr.arpa.', '@ NS ns.nic.arpa.\n6 NS ns.6\nns.6 A 5.5.5.6'))
      .serve(B, own);
    const seen = await scan(exchange, {}, '6.5.in-addr.arpa');
    expect(told(seen)).toEqual([
      '6.5.in-addr.arpa. NS ns.host.net.',
      '*.77.6.5.in-addr.arpa. PTR c.net.',
      '10.8.6.5.in-addr.arpa. PTR b.net.',
      '9.8.6.5.in-addr.arpa. PTR a.net.',
    ]);
    expect(seen.complete).toBe(true);
  });
});

function nsecOf(owner: string, nextName: string, types: number[]) {
  const rdata = Uint8Array.from(NSEC.encode({ nextName: name(nextName), types }));
  return recordsIn([{ owner: name(owner), type: TYPE.NSEC, ttl: 600, rdata: [rdata] }]);
}

describe('a wildcard', () => {
  it('is listed', async () => {
    const seen = await scan(shop('* A 5.6.7.1'));
    expect(seen.wildcards.map(printName)).toEqual(['shop.com.']);
  });

  it('may return a different address each time', async () => {
    let turn = 0;
    const pool = ['5.6.7.1', '5.6.7.2', '5.6.7.3'];
    const exchange = shop('* A 5.6.7.1\nwww A 5.6.7.99', ({ honest }) => {
      const message = honest();
      const answers = message.answers.map((record) =>
        record.rdata.at(-1) === 1 && record.type === TYPE.A
          ? { ...record, rdata: Uint8Array.from((pool[turn++ % 3] as string).split('.'), Number) }
          : record,
      );
      return { ...message, answers };
    });
    const names = (await found(exchange)).map((line) => line.split(' ')[0]);
    expect(names).toEqual(['*.shop.com.', 'www.shop.com.']);
  });

  it('may return a different address for each name', async () => {
    const exchange = shop('www A 5.6.7.99\n*.dev A 5.6.7.1', ({ name: owner, type, honest }) => {
      const message = honest();
      if (message.rcode !== RCODE.NXDOMAIN || type !== 'A') return message;
      const octets = [...owner].reduce((hash, char) => (hash * 31 + char.charCodeAt(0)) >>> 0, 7);
      return answering(`${owner} A 9.${(octets >> 16) & 255}.${(octets >> 8) & 255}.${octets & 255}`);
    });
    const lines = await found(exchange, { words: ['www', 'host', 'srv', 'other'] });
    expect(lines.filter((line) => !line.startsWith('*') && line.includes(' A 9.'))).toEqual([]);
  });

  it('makes every name uncertain if random names have no answer', async () => {
    const exchange = shop('* A 5.6.7.1\nmail A 5.6.7.2', ({ name: owner }) =>
      /^[a-z]{12}\./.test(owner) ? reply({ rcode: RCODE.SERVFAIL }) : undefined,
    );
    const seen = await scan(exchange);
    expect([seen.complete, beyondAlways(seen)]).toEqual([false, ['*.shop.com. A 5.6.7.1']]);
  });

  it('is not assumed if names are denied as NODATA with NXNAME (RFC 9824)', async () => {
    const exchange = shop('www A 5.6.7.1\napi.dev A 5.6.7.2', ({ name: owner, honest }) => {
      const message = honest();
      if (message.rcode !== RCODE.NXDOMAIN) return message;
      const nsec = nsecOf(owner, `\\000.${owner}`, [46, 47, 128]);
      return { ...message, rcode: RCODE.NOERROR, authorities: [...message.authorities, ...nsec] };
    });
    expect(await found(exchange)).toEqual(['api.dev.shop.com. A 5.6.7.2', 'www.shop.com. A 5.6.7.1']);
  });
});

const ownedBy = (owner: string, message: Message): Message => {
  return { ...message, answers: message.answers.map((record) => ({ ...record, owner: name(owner) })) };
};

describe('the work of a scan', () => {
  it('ends at 4,000 packets, and reports how many names are left, and that there are too many', async () => {
    const words = Array.from({ length: 9000 }, (_, i) => `host-${i}-x`);
    const seen = await scan(shop('www A 5.6.7.1'), { words: ['www', ...words] });
    expect(seen).toMatchObject({ complete: false, failure: undefined, queries: 4000 });
    expect(seen.shortfalls).toEqual([
      expect.stringMatching(/^more than 4000 packets would be needed: [0-9]+ names were not queried$/),
      'there are more names than a scan may query',
    ]);
    expect(told(seen)).toContain('www.shop.com. A 5.6.7.1');
  });

  it('keeps at most 10,000 records and learns at most 256 names', async () => {
    const letters = [...'abcdefghijklmnopqrst'];
    const terms = letters.flatMap((a) => letters.map((b) => `a:h-${a}${b}-x.shop.com`));
    const texts = [0, 80, 160, 240, 320].map((from) => {
      const part = terms.slice(from, from + 80).map((each) => `"${each} "`);
      return `@ TXT "v=spf1 " ${part.join(' ')}`;
    });
    const pool = answering(Array.from({ length: 42 }, (_, i) => `x. A 5.6.7.${i}`).join('\n'));
    const exchange = shop(texts.join('\n'), ({ name: owner, type }) =>
      /^h.*-x\./.test(owner) && type === 'A' ? ownedBy(owner, pool) : undefined,
    );
    const progress: ScanProgress[] = [];
    const seen = await scan(exchange, { words: [], onProgress: (each) => progress.push(each) });
    expect(seen.records.length).toBeGreaterThan(9000);
    expect(Math.max(...progress.map(({ records }) => records))).toBeLessThanOrEqual(10_000);
    expect(seen).toMatchObject({ complete: false, failure: undefined });
    expect(seen.shortfalls.join()).toMatch(
      /[0-9]+ records were omitted because the scan found more than it may keep/,
    );
    const learned = exchange.asked.map((line) => line.split(' ')[1] as string);
    expect(new Set(learned.filter((each) => /^h.*-x\./.test(each))).size).toBe(256);
  });

  it('omits an answer with more than 256 records, and continues with its servers', async () => {
    const lines = Array.from({ length: 257 }, (_, i) => `x. A 5.6.${i >> 8}.${i & 255}`);
    const large = answering(lines.join('\n'));
    const words = ['mail', ...Array.from({ length: 20 }, (_, i) => `large-${i}-x`)];
    const exchange = shop('mail TXT "hello"\nwww A 5.6.7.1', ({ name: owner, type }) =>
      words.includes(owner.replace('.shop.com.', '')) && type === 'A' ? ownedBy(owner, large) : undefined,
    );
    const seen = await scan(exchange, { words: [...words, 'www'] });
    expect(beyondAlways(seen)).toEqual(['mail.shop.com. TXT "hello"', 'www.shop.com. A 5.6.7.1']);
    const shortfalls = ['21 answers with more than 256 records were omitted'];
    expect(seen).toMatchObject({ complete: false, shortfalls });
    expect(exchange.asked.filter((line) => line.endsWith(' mail.shop.com. A'))).toHaveLength(1);
  });

  it('reports its progress', async () => {
    const progress: ScanProgress[] = [];
    const seen = await scan(shop('www A 5.6.7.1'), { words: FEW, onProgress: (each) => progress.push(each) });
    const { names, queries, records } = seen;
    expect(progress.at(-1)).toEqual({ names, of: names, queries, records: records.length });
    expect(progress.map((each) => each.names)).toEqual(progress.map((_, i) => i + 1));
  });

  it('ends when its signal aborts', async () => {
    const controller = new AbortController();
    const scanned = scan(
      shop('www A 5.6.7.1', () => 'hangs'),
      { signal: controller.signal },
    );
    controller.abort(new Error('nobody waits any more'));
    await expect(scanned).rejects.toThrow('nobody waits any more');
  });

  it('fails if no server answers', async () => {
    const exchange = shop('www A 5.6.7.1')
      .behave(A, () => 'silent')
      .behave(B, () => 'bad');
    const seen = await scan(exchange, {});
    const failure = { reason: 'unreachable', zone: name('shop.com') };
    expect(seen).toMatchObject({ records: [], complete: false, failure });
    expect(seen.queries).toBeLessThan(60);
    const above = comInternet('').behave(COM_A, () => 'bad');
    const walked = await scan(above.behave(COM_B, () => 'bad'));
    expect(walked.failure).toMatchObject({ reason: 'lame', zone: name('com') });
  });
});
