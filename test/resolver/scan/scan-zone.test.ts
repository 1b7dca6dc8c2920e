import { describe, expect, it } from 'vitest';
import type { Scan } from '../../../src/checks/scan/scan.ts';
import { RCODE } from '../../../src/dns/message/rcodes.ts';
import { printName } from '../../../src/dns/name.ts';
import { printRdata } from '../../../src/dns/record/rdata.ts';
import { NSEC } from '../../../src/dns/record/types/nsec.ts';
import { TYPE, typeMnemonic } from '../../../src/dns/type-codes.ts';
import type { ScanOptions, ScanProgress } from '../../../src/resolver/scan/scan-zone.ts';
import { COM_A, COM_B, comInternet, internet, testResolver } from '../../support/world/test-resolver.ts';
import {
  answering,
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
/** Found in each zone of these tests. */
const ALWAYS = [
  'shop.com. NS ns1.shop.com.',
  'shop.com. NS ns2.shop.com.',
  `ns1.shop.com. A ${A}`,
  `ns2.shop.com. A ${B}`,
];
const FEW = ['www', 'mail', 'api', 'app', 'dev', 'shop', 'blog'];

/** A domain `shop.com` at two addresses. */
function shop(text: string): ZoneExchange {
  const own = zone('shop.com.', `${OWN}\n${text.replaceAll(/\n +/g, '\n')}`);
  return comInternet(DELEGATED).serve(A, own).serve(B, own);
}

function scan(
  exchange: ZoneExchange,
  options: ScanOptions = { words: FEW },
  domain = 'shop.com',
): Promise<Scan> {
  return testResolver(exchange).resolver.scanZone(name(domain), options);
}

function told({ records }: Scan): string[] {
  return records.map(
    ({ name: owner, type, rdata }) => `${printName(owner)} ${typeMnemonic(type)} ${printRdata(type, rdata)}`,
  );
}

/** Without what each zone has. */
async function found(exchange: ZoneExchange, options?: ScanOptions): Promise<string[]> {
  const seen = await scan(exchange, options);
  expect(seen.failure).toBeUndefined();
  return told(seen).filter((line) => !ALWAYS.includes(line));
}

describe('a scan', () => {
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

  it('says that a name does not exist when its parent denies it, unless it has records all the same', async () => {
    const denied = await scan(comInternet(''));
    expect(denied).toMatchObject({
      records: [],
      failure: undefined,
      shortfalls: ['shop.com. does not exist: NXDOMAIN from the servers of com.'],
    });
    const inside = await scan(comInternet('www.shop A 5.6.7.8'));
    expect([told(inside), inside.shortfalls]).toEqual([['www.shop.com. A 5.6.7.8'], []]);
  });

  it('costs about as many questions as the list has names', async () => {
    const exchange = shop(
      '@ A 5.6.7.8\n@ MX 1 mail\nmail A 5.6.7.9\nwww A 5.6.7.8\napi A 5.6.7.8\nblog A 5.6.7.8',
    );
    const seen = await scan(exchange, {});
    expect(seen.complete).toBe(true);
    expect(seen.queries).toBeLessThan(1750);
    const at = (address: string) => exchange.asked.filter((line) => line.startsWith(`${address} `)).length;
    expect(Math.abs(at(A) - at(B))).toBeLessThan(20);
  });

  it('learns names from MX, NS, SRV, CNAME, SPF and reports', async () => {
    const exchange = shop(`@ MX 10 gate-a
      @ TXT "v=spf1 include:part.shop.com a:host-c.shop.com redirect=rest.shop.com"
      gate-a A 5.6.7.1
      part TXT "v=spf1 ip4:5.6.7.2 -all"
      rest TXT "v=spf1 mx:deep.host-d.shop.com -all"
      deep.host-d MX 10 gate-a
      host-c A 5.6.7.3
      _dmarc TXT "v=DMARC1; p=none; rua=mailto:x@to-us.shop.com"
      to-us MX 10 gate-a
      _sip._tcp SRV 0 0 5060 pbx-e
      pbx-e A 5.6.7.4
      www CNAME front-f
      front-f A 5.6.7.5
      _25._tcp.gate-a TLSA 3 1 1 ${'ab'.repeat(32)}`);
    const names = new Set((await found(exchange)).map((line) => line.split(' ')[0]));
    for (const each of [
      'gate-a',
      'part',
      'rest',
      'deep.host-d',
      'host-c',
      'to-us',
      'pbx-e',
      'front-f',
      '_25._tcp.gate-a',
    ]) {
      expect(names).toContain(`${each}.shop.com.`);
    }
  });

  it('finds the selectors that MX and SPF reveal, and common ones', async () => {
    const exchange = shop(`@ MX 1 aspmx.l.google.com.
      @ TXT "v=spf1 include:_spf.google.com include:4455.spf03.hubspotemail.net -all"
      google._domainkey TXT "v=DKIM1; p=a"
      hs1-4455._domainkey CNAME shop-com.hs01a.dkim.hubspotemail.net.
      default._domainkey TXT "v=DKIM1; p=b"
      _dmarc TXT "v=DMARC1; p=reject"`);
    expect((await found(exchange)).filter((line) => line.includes('_d'))).toEqual([
      '_dmarc.shop.com. TXT "v=DMARC1; p=reject"',
      'default._domainkey.shop.com. TXT "v=DKIM1; p=b"',
      'google._domainkey.shop.com. TXT "v=DKIM1; p=a"',
      'hs1-4455._domainkey.shop.com. CNAME shop-com.hs01a.dkim.hubspotemail.net.',
    ]);
  });

  it('looks below names that have nothing themselves, and beside numbered ones', async () => {
    const exchange = shop(`api.dev A 5.6.7.1
      web-07 A 5.6.7.7
      web-08 A 5.6.7.8
      web-09 A 5.6.7.9
      web-10 A 5.6.7.10
      www CNAME web-08
      api A 5.6.7.2
      staging-api A 5.6.7.3`);
    expect(await found(exchange)).toEqual([
      'api.shop.com. A 5.6.7.2',
      'api.dev.shop.com. A 5.6.7.1',
      'staging-api.shop.com. A 5.6.7.3',
      'web-07.shop.com. A 5.6.7.7',
      'web-08.shop.com. A 5.6.7.8',
      'web-09.shop.com. A 5.6.7.9',
      'web-10.shop.com. A 5.6.7.10',
      'www.shop.com. CNAME web-08.shop.com.',
    ]);
  });

  it('asks for nothing below a name that does not exist', async () => {
    const exchange = shop('@ A 5.6.7.8');
    await scan(exchange);
    const names = exchange.asked.map((line) => line.split(' ')[1] as string);
    expect(names.filter((each) => /(_udp|_domainkey)\./.test(each)).sort()).toEqual([
      '_domainkey.shop.com.',
      '_udp.shop.com.',
    ]);
  });

  it('finds what a server hides that denies empty names (RFC 8020 §2)', async () => {
    const exchange = shop(`@ MX 1 aspmx.l.google.com.
      google._domainkey TXT "v=DKIM1; p=a"
      s1._domainkey TXT "v=DKIM1; p=b"`);
    const denial = reply({
      aa: true,
      rcode: RCODE.NXDOMAIN,
      authorities: recordsIn([
        { owner: name('shop.com'), type: TYPE.SOA, ttl: 600, rdata: [Buffer.alloc(22)] },
      ]),
    });
    for (const address of [A, B]) {
      exchange.behave(address, ({ name: owner }) => (owner.startsWith('_domainkey.') ? denial : undefined));
    }
    expect((await found(exchange)).filter((line) => line.includes('_domainkey'))).toHaveLength(2);
  });
});

describe('a wildcard', () => {
  it('is found, and none of the names that it makes', async () => {
    const exchange = shop('* A 5.6.7.1\n* MX 10 mail\nwww A 5.6.7.2');
    const seen = await scan(exchange, {});
    expect(told(seen).filter((line) => !ALWAYS.includes(line))).toEqual([
      '*.shop.com. A 5.6.7.1',
      '*.shop.com. MX 10 mail.shop.com.',
      'www.shop.com. A 5.6.7.2',
    ]);
    expect(seen.wildcards.map(printName)).toEqual(['shop.com.']);
  });

  it('may be an alias', async () => {
    const exchange = shop('* CNAME www.host.net.\nblog CNAME blog.host.net.\nhost A 5.6.7.1');
    expect(await found(exchange, { words: [...FEW, 'host'] })).toEqual([
      '*.shop.com. CNAME www.host.net.',
      'blog.shop.com. CNAME blog.host.net.',
      'host.shop.com. A 5.6.7.1',
    ]);
  });

  it('hides no common name that has other types', async () => {
    const exchange = shop('* A 5.6.7.1\nmail A 5.6.7.1\nmail TXT "here"\nblog A 5.6.7.1');
    expect(await found(exchange)).toEqual([
      '*.shop.com. A 5.6.7.1',
      'mail.shop.com. A 5.6.7.1',
      'mail.shop.com. TXT "here"',
    ]);
  });

  it('is found below names too, and where nobody thinks of it', async () => {
    expect(await found(shop('app A 5.6.7.1\n*.app A 5.6.7.2\n*.dev CNAME app'))).toEqual([
      'app.shop.com. A 5.6.7.1',
      '*.app.shop.com. A 5.6.7.2',
      '*.dev.shop.com. CNAME app.shop.com.',
    ]);
  });

  it('is found below a name that another one makes, or hides', async () => {
    const exchange = shop('* A 5.6.7.1\n*.app A 5.6.7.2\n*.preview CNAME www.host.net.\napi A 5.6.7.1');
    expect(await found(exchange, {})).toEqual([
      '*.shop.com. A 5.6.7.1',
      '*.app.shop.com. A 5.6.7.2',
      '*.preview.shop.com. CNAME www.host.net.',
    ]);
    const hidden = shop('* A 5.6.7.1\napp A 5.6.7.1\n*.app A 5.6.7.2');
    expect(await found(hidden, { words: ['app'] })).toContain('*.app.shop.com. A 5.6.7.2');
    expect(await found(shop('* A 5.6.7.1\n* MX 1 mail'), {})).toHaveLength(2);
  });

  it('may be below the keys of a parked zone', async () => {
    const parked = shop(`@ A 5.6.7.1
      @ TXT "v=spf1 -all"
      *._domainkey TXT "v=DKIM1; p="
      _domainconnect CNAME _domainconnect.host.net.`);
    expect((await found(parked)).slice(2)).toEqual([
      '_domainconnect.shop.com. CNAME _domainconnect.host.net.',
      '*._domainkey.shop.com. TXT "v=DKIM1; p="',
    ]);
  });

  it('may answer with another address each time', async () => {
    const exchange = shop('* A 5.6.7.1\nwww A 5.6.7.99');
    let turn = 0;
    const pool = ['5.6.7.1', '5.6.7.2', '5.6.7.3'];
    for (const address of [A, B]) {
      exchange.behave(address, ({ honest }) => {
        const message = honest();
        const answers = message.answers.map((record) =>
          record.rdata.at(-1) === 1 && record.type === TYPE.A
            ? { ...record, rdata: Uint8Array.from((pool[turn++ % 3] as string).split('.'), Number) }
            : record,
        );
        return { ...message, answers };
      });
    }
    const names = (await found(exchange, {})).map((line) => line.split(' ')[0]);
    expect(names).toEqual(['*.shop.com.', 'www.shop.com.']);
  });

  it('may answer with another address for each name', async () => {
    const exchange = shop('www A 5.6.7.99\n*.dev A 5.6.7.1');
    for (const address of [A, B]) {
      exchange.behave(address, ({ name: owner, type, honest }) => {
        const message = honest();
        if (message.rcode !== RCODE.NXDOMAIN || type !== 'A') return message;
        const octets = [...owner].reduce((hash, char) => (hash * 31 + char.charCodeAt(0)) >>> 0, 7);
        const rdata = Uint8Array.of(9, octets >> 16, octets >> 8, octets);
        const made = { owner: name(owner), type: TYPE.A, ttl: 600, rdata: [rdata] };
        return reply({ aa: true, answers: recordsIn([made]) });
      });
    }
    const lines = await found(exchange, { words: ['www', 'host', 'srv', 'other'] });
    expect(lines.filter((line) => !line.startsWith('*') && line.includes(' A 9.'))).toEqual([]);
  });

  it('may be there where random names have no answer: then no name is sure', async () => {
    const exchange = shop('* A 5.6.7.1\nmail A 5.6.7.2');
    for (const address of [A, B]) {
      exchange.behave(address, ({ name: owner }) =>
        /^[a-z]{12}\./.test(owner) ? reply({ rcode: RCODE.SERVFAIL }) : undefined,
      );
    }
    const seen = await scan(exchange);
    expect(seen.complete).toBe(false);
    expect(told(seen).filter((line) => !ALWAYS.includes(line))).toEqual(['*.shop.com. A 5.6.7.1']);
  });

  it('is not seen where names are denied as NODATA with NXNAME (RFC 9824)', async () => {
    const exchange = shop('www A 5.6.7.1\napi.dev A 5.6.7.2');
    for (const address of [A, B]) {
      exchange.behave(address, ({ name: owner, honest }) => {
        const message = honest();
        if (message.rcode !== RCODE.NXDOMAIN) return message;
        const rdata = Uint8Array.from(
          NSEC.encode({ nextName: name(`\\000.${owner}`), types: [46, 47, 128] }),
        );
        const nsec = recordsIn([{ owner: name(owner), type: TYPE.NSEC, ttl: 600, rdata: [rdata] }]);
        return { ...message, rcode: RCODE.NOERROR, authorities: [...message.authorities, ...nsec] };
      });
    }
    expect(await found(exchange)).toEqual(['api.dev.shop.com. A 5.6.7.2', 'www.shop.com. A 5.6.7.1']);
  });
});

describe('a delegation', () => {
  it('is found with its glue and its DS, and ends the descent', async () => {
    const digest = 'ab'.repeat(32);
    const exchange = shop(
      `dev NS ns.dev\ndev NS ns1\nns.dev A 5.6.7.1\ndev DS 1 8 2 ${digest}\napi.dev A 5.6.7.2`,
    );
    expect(await found(exchange)).toEqual([
      'dev.shop.com. NS ns.dev.shop.com.',
      'dev.shop.com. NS ns1.shop.com.',
      `dev.shop.com. DS 1 8 2 ${digest.toUpperCase()}`,
      'ns.dev.shop.com. A 5.6.7.1',
    ]);
  });

  it('is seen where the same servers hold both zones', async () => {
    const below = zone(
      'dev.shop.com.',
      '@ NS ns.dev\n@ NS ns1.shop.com.\nns A 5.6.7.1\n@ A 5.6.7.9\nwww A 5.6.7.2',
    );
    const exchange = shop('dev NS ns.dev\ndev NS ns1\nns.dev A 5.6.7.1\nwww A 5.6.7.3');
    exchange.serve(A, below).serve(B, below);
    expect(await found(exchange)).toEqual([
      'dev.shop.com. NS ns.dev.dev.shop.com.',
      'dev.shop.com. NS ns1.shop.com.',
      'www.shop.com. A 5.6.7.3',
    ]);
  });

  it('is different from a DNAME, which makes names too', async () => {
    const exchange = shop('dev DNAME shop.net.\ndev A 5.6.7.1\nwww A 5.6.7.3');
    expect(await found(exchange)).toEqual([
      'dev.shop.com. A 5.6.7.1',
      'dev.shop.com. DNAME shop.net.',
      'www.shop.com. A 5.6.7.3',
    ]);
  });

  it('of the domain itself need not be there: its names are in the zone above', async () => {
    const com = zone(
      'com.',
      '@ NS a.gtld.\n@ NS b.gtld.\nshop A 5.6.7.1\nwww.shop A 5.6.7.2\nother A 5.6.7.3',
    );
    const exchange = comInternet('').serve(COM_A, com).serve(COM_B, com);
    expect(told(await scan(exchange))).toEqual(['shop.com. A 5.6.7.1', 'www.shop.com. A 5.6.7.2']);
    const nothing = await scan(comInternet(''));
    expect(nothing).toMatchObject({ records: [], complete: true, failure: undefined });
    expect(nothing.queries).toBeLessThan(20);
  });
});

describe('what is there leads to more of its kind', () => {
  const names = async (text: string, options?: ScanOptions) =>
    new Set((await found(shop(text), options)).map((line) => line.split('.shop.com. ')[0]));

  it('in a university', async () => {
    const zoneText = `library A 5.6.7.1
      moodle A 5.6.7.2
      weblogin A 5.6.7.3
      physics NS ns.host.net.
      www.chem A 5.6.7.4
      math MX 1 mail.host.net.
      www.math A 5.6.7.5`;
    const hidden = ['weblogin', 'physics', 'www.chem', 'www.math'];
    const seen = await names(zoneText, { words: ['library', 'moodle'] });
    for (const each of hidden) expect(seen).toContain(each);
    const one = await names(zoneText.replace(/moodle|physics/g, 'other'), { words: ['library'] });
    for (const each of hidden) expect(one).not.toContain(each);
  });

  it('in an Active Directory', async () => {
    const srv = 'SRV 0 100 389 dc-a';
    const seen = await names(`_ldap._tcp ${srv}
      _gc._tcp ${srv}
      _kpasswd._udp ${srv}
      _ldap._tcp.dc._msdcs ${srv}
      _kerberos._tcp.dc._msdcs ${srv}
      _ldap._tcp.gc._msdcs ${srv}
      _ldap._tcp.default-first-site-name._sites ${srv}
      dc-a A 5.6.7.1`);
    for (const each of [
      '_gc._tcp',
      '_kpasswd._udp',
      '_ldap._tcp.dc._msdcs',
      '_kerberos._tcp.dc._msdcs',
      '_ldap._tcp.gc._msdcs',
      '_ldap._tcp.default-first-site-name._sites',
      'dc-a',
    ]) {
      expect(seen).toContain(each);
    }
  });

  it('beside services, shells and telephones', async () => {
    const lines = await found(
      shop(`@ NAPTR 10 10 "s" "SIP+D2T" "" _sip._tcp
      _sip._tcp SRV 0 0 5060 sip
      sip A 5.6.7.1
      sip NAPTR 10 10 "s" "SIP+D2U" "" _sip._udp
      _caldavs._tcp SRV 0 0 443 sip
      _caldavs._tcp TXT "path=/dav"
      git A 5.6.7.2
      git SSHFP 4 2 ${'ab'.repeat(32)}
      _443._tcp.www TLSA 3 1 1 ${'cd'.repeat(32)}
      @ MX 1 sip
      _25._tcp.sip TLSA 3 1 1 ${'cd'.repeat(32)}`),
      { words: ['git', 'sip'] },
    );
    const kinds = lines.map((line) => line.split(' ').slice(0, 2).join(' '));
    for (const each of ['', 'sip.']) expect(kinds).toContain(`${each}shop.com. NAPTR`);
    expect(kinds).toContain('_caldavs._tcp.shop.com. TXT');
    expect(kinds).toContain('git.shop.com. SSHFP');
    expect(kinds).toContain('_443._tcp.www.shop.com. TLSA');
  });

  it('below a name that mail is sent from', async () => {
    const seen = await names(`mail TXT "v=spf1 include:mailgun.org -all"
      pdk1._domainkey.mail TXT "v=DKIM1; p=a"
      email.mail CNAME mailgun.org.
      api TXT "v=spf1 include:amazonses.com -all"
      resend._domainkey TXT "v=DKIM1; p=b"
      bounce.api MX 1 mail.host.net.
      app CNAME 4455.group0.sites.hubspot.net.
      hs1-4455._domainkey CNAME a.host.net.
      blog CNAME acme.github.io.
      _github-pages-challenge-acme TXT "abc"`);
    for (const each of [
      'pdk1._domainkey.mail',
      'email.mail',
      'resend._domainkey',
      'bounce.api',
      'hs1-4455._domainkey',
      '_github-pages-challenge-acme',
    ]) {
      expect(seen).toContain(each);
    }
  });

  it('where reports for other domains are taken (RFC 7489 §7.1)', async () => {
    const seen = await names('_dmarc TXT "v=DMARC1"\n*._report._dmarc TXT "v=DMARC1"');
    expect(seen).toContain('*._report._dmarc');
  });

  it('in a zone of many languages', async () => {
    const seen = await names('de CNAME www\nfr CNAME www\nsl CNAME www', { words: ['de', 'fr'] });
    expect(seen).toContain('sl');
    expect(await names('de CNAME www\nsl CNAME www', { words: ['de', 'fr'] })).not.toContain('sl');
  });
});

describe('a signed zone', () => {
  it('shows its names by NSEC', async () => {
    const exchange = shop('www A 5.6.7.1\nwho-would-think A 5.6.7.2');
    const rdata = Uint8Array.from(
      NSEC.encode({ nextName: name('who-would-think.shop.com'), types: [1, 46, 47] }),
    );
    const nsec = recordsIn([{ owner: name('sub.shop.com'), type: TYPE.NSEC, ttl: 600, rdata: [rdata] }]);
    for (const address of [A, B]) {
      exchange.behave(address, ({ honest }) => {
        const message = honest();
        if (message.rcode !== RCODE.NXDOMAIN) return message;
        return { ...message, authorities: [...message.authorities, ...nsec] };
      });
    }
    expect(await found(exchange)).toContain('who-would-think.shop.com. A 5.6.7.2');
  });
});

describe('a reverse zone', () => {
  it('is asked for each number, and further down where numbers are', async () => {
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

describe('the work of a scan', () => {
  it('ends at 4,000 packets, and says what it came to', async () => {
    const words = Array.from({ length: 5000 }, (_, i) => `host-${i}-x`);
    const seen = await scan(shop('www A 5.6.7.1'), { words: ['www', ...words] });
    expect(seen).toMatchObject({ complete: false, failure: undefined, queries: 4000 });
    expect(seen.shortfalls).toEqual([
      expect.stringMatching(/^more than 4000 packets would be needed: 1[0-9]{3} names were not asked for$/),
    ]);
    expect(told(seen)).toContain('www.shop.com. A 5.6.7.1');
  });

  it('says when there are more names than it takes', async () => {
    const words = Array.from({ length: 9000 }, (_, i) => `host-${i}-x`);
    const seen = await scan(shop('www A 5.6.7.1'), { words: ['www', ...words] });
    expect(seen.shortfalls).toEqual([
      expect.stringMatching(/^more than 4000 packets would be needed: [0-9]+ names were not asked for$/),
      'there are more names to ask for than a scan takes',
    ]);
  });

  it('keeps no more than a scan may, however much a zone shows', async () => {
    const letters = [...'abcdefghijklmnopqrst'];
    const terms = letters.flatMap((a) => letters.map((b) => `a:h-${a}${b}-x.shop.com`));
    const texts = [0, 80, 160, 240, 320].map((from) => {
      const part = terms.slice(from, from + 80).map((each) => `"${each} "`);
      return `@ TXT "v=spf1 " ${part.join(' ')}`;
    });
    const exchange = shop(texts.join('\n'));
    const pool = Array.from({ length: 60 }, (_, i) => `5.6.7.${i}`);
    for (const address of [A, B]) {
      exchange.behave(address, ({ name: owner, type }) =>
        /^h.*-x\./.test(owner) && type === 'A'
          ? answering(pool.map((each) => `${owner} A ${each}`).join('\n'))
          : undefined,
      );
    }
    const progress: ScanProgress[] = [];
    const seen = await scan(exchange, { words: [], onProgress: (each) => progress.push(each) });
    expect(seen.records.length).toBeGreaterThan(9000);
    expect(Math.max(...progress.map(({ records }) => records))).toBeLessThanOrEqual(10_000);
    expect(seen).toMatchObject({ complete: false, failure: undefined });
    expect(seen.shortfalls.join()).toMatch(/[0-9]+ records were left out: there are more than a scan keeps/);
    const learned = new Set(
      exchange.asked.map((line) => line.split(' ')[1]).filter((each) => /^h.*-x\./.test(each ?? '')),
    );
    expect(learned.size).toBe(256);
  });

  it('leaves out an answer of too many records, and goes on with its servers', async () => {
    const exchange = shop('mail TXT "hello"\nwww A 5.6.7.1');
    const pool = Array.from({ length: 257 }, (_, i) => `5.6.${i >> 8}.${i & 255}`);
    const large = ['mail.shop.com.', ...Array.from({ length: 20 }, (_, i) => `large-${i}-x.shop.com.`)];
    for (const address of [A, B]) {
      exchange.behave(address, ({ name: owner, type }) =>
        large.includes(owner) && type === 'A'
          ? answering(pool.map((each) => `${owner} A ${each}`).join('\n'))
          : undefined,
      );
    }
    const words = large.map((each) => each.replace('.shop.com.', ''));
    const seen = await scan(exchange, { words: [...words, 'www'] });
    expect(told(seen).filter((line) => !ALWAYS.includes(line))).toEqual([
      'mail.shop.com. TXT "hello"',
      'www.shop.com. A 5.6.7.1',
    ]);
    expect(seen).toMatchObject({
      complete: false,
      shortfalls: ['21 answers of more than 256 records were left out'],
    });
    expect(exchange.asked.filter((line) => line.endsWith(' mail.shop.com. A'))).toHaveLength(1);
  });

  it('goes on at names that mean something elsewhere', async () => {
    const words = ['__proto__', 'constructor', 'toString'];
    expect(
      await found(shop('__proto__ TXT "a"\nconstructor A 5.6.7.1\ntostring A 5.6.7.2'), { words }),
    ).toEqual([
      '__proto__.shop.com. TXT "a"',
      'constructor.shop.com. A 5.6.7.1',
      'tostring.shop.com. A 5.6.7.2',
    ]);
  });

  it('is told while it goes on', async () => {
    const progress: ScanProgress[] = [];
    const seen = await scan(shop('www A 5.6.7.1'), { words: FEW, onProgress: (each) => progress.push(each) });
    const last = progress.at(-1) as ScanProgress;
    expect(last).toEqual({
      names: seen.names,
      of: seen.names,
      queries: seen.queries,
      records: seen.records.length,
    });
    expect(progress.map(({ names }) => names)).toEqual(progress.map((_, i) => i + 1));
  });

  it('ends with its signal', async () => {
    const exchange = shop('www A 5.6.7.1');
    exchange.behave(A, () => 'hangs').behave(B, () => 'hangs');
    const controller = new AbortController();
    const scanned = scan(exchange, { signal: controller.signal });
    controller.abort(new Error('nobody waits any more'));
    await expect(scanned).rejects.toThrow('nobody waits any more');
  });

  it('fails where nobody answers', async () => {
    const exchange = shop('www A 5.6.7.1')
      .behave(A, () => 'silent')
      .behave(B, () => 'bad');
    const seen = await scan(exchange, {});
    expect(seen).toMatchObject({
      records: [],
      complete: false,
      failure: { reason: 'unreachable', zone: name('shop.com') },
    });
    expect(seen.queries).toBeLessThan(60);
    const walked = await scan(
      comInternet('')
        .behave(COM_A, () => 'bad')
        .behave(COM_B, () => 'bad'),
    );
    expect(walked.failure).toMatchObject({ reason: 'lame', zone: name('com') });
  });
});
