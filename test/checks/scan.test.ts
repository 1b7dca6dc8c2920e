import { describe, expect, it } from 'vitest';
import { cdnOfAddress, cdnOfTarget } from '../../src/checks/scan/cdn-networks.ts';
import { type PlannedImport, planImport } from '../../src/checks/scan/plan-import.ts';
import type { ScannedRecord } from '../../src/checks/scan/scan.ts';
import { foldCase, parseName, printName, ROOT } from '../../src/dns/name.ts';
import { parseIpv4, parseIpv6 } from '../../src/dns/record/ip-address.ts';
import { printRdata } from '../../src/dns/record/rdata.ts';
import { typeCode, typeMnemonic } from '../../src/dns/type-codes.ts';
import { parseZoneFile } from '../../src/dns/zone-file/parse-zone-file.ts';
import { wordsOf } from '../support/tests/rows-of.ts';

const APEX = parseName('shop.com', ROOT);
const TYPES = new Set(
  wordsOf('A AAAA CNAME NS TXT MX SRV CAA HTTPS DS').map((mnemonic) => typeCode(mnemonic) as number),
);
const EDGES = { v4: ['203.0.113.7'], v6: ['2001:DB8::7'] };

/** Parsed line by line: in a zone file, all records of a set would have one TTL. */
function scannedIn(line: string): ScannedRecord[] {
  const { records, problems } = parseZoneFile(`$ORIGIN shop.com.\n$TTL 3600\n${line}`, { origin: APEX });
  expect(problems).toEqual([]);
  return records.map(({ owner, type, ttl, rdata }) => ({ name: foldCase(owner), type, ttl, rdata }));
}

function plan(text: string): PlannedImport {
  const scanned = text.split('\n').flatMap(scannedIn);
  return planImport({ records: scanned }, { apex: APEX, edges: EDGES, types: TYPES });
}

/** Parses `www 300 A 5.6.7.8`. */
function taken({ records }: PlannedImport): string[] {
  return records.map(
    ({ name, type, ttl, rdata }) =>
      `${printName(name)} ${ttl} ${typeMnemonic(type)} ${printRdata(type, rdata)}`,
  );
}

function left({ left: all }: PlannedImport): string[] {
  return all.map(({ name, type, reason }) => `${printName(name)} ${typeMnemonic(type)}: ${reason}`);
}

describe('the result of a scan', () => {
  it('becomes records without duplicates, with allowed TTLs', () => {
    const planned = plan(`@ 30 A 5.6.7.8
www 100000 CNAME shop.com.
mail 600 A 5.6.7.9
mail 500 A 5.6.7.10
mail 600 A 5.6.7.9
_sip._tcp SRV 0 0 5060 mail
* TXT "any"`);
    expect(taken(planned)).toEqual([
      'shop.com. 60 A 5.6.7.8',
      'www.shop.com. 86400 CNAME shop.com.',
      'mail.shop.com. 500 A 5.6.7.9',
      'mail.shop.com. 500 A 5.6.7.10',
      '_sip._tcp.shop.com. 3600 SRV 0 0 5060 mail.shop.com.',
      '*.shop.com. 3600 TXT "any"',
    ]);
    expect(planned.left).toEqual([]);
  });

  it("omits the service's own records, the previous provider's DNSSEC, and unsupported types", () => {
    const planned = plan(`@ SOA ns1 admin 1 2 3 4 5
@ NS ns1.old.net.
@ NS ns2.old.net.
@ CNAME shop.net.
@ CDS 1 8 2 ${'ab'.repeat(32)}
dev NS ns.host.net.
dev DS 1 8 2 ${'ab'.repeat(32)}
old DNAME shop.net.
here LOC 52 N 4 E 0m`);
    expect(taken(planned)).toEqual(['dev.shop.com. 3600 NS ns.host.net.']);
    expect(left(planned)).toEqual([
      'shop.com. SOA: this service sets its own SOA and NS records for the domain itself',
      'shop.com. NS: this service sets its own SOA and NS records for the domain itself',
      'shop.com. CNAME: the domain itself cannot have a CNAME record; use an ANAME record instead',
      'shop.com. CDS: it belongs to the DNSSEC signatures of the previous DNS provider',
      'dev.shop.com. DS: it belongs to the DNSSEC signatures of the previous DNS provider',
      'old.shop.com. DNAME: records of type DNAME are not supported',
      'here.shop.com. LOC: records of type LOC are not supported',
    ]);
  });

  it("never includes addresses of the service's own proxy", () => {
    const planned = plan('www A 203.0.113.7\nwww A 5.6.7.8\nwww AAAA 2001:db8::7');
    expect(taken(planned)).toEqual(['www.shop.com. 3600 A 5.6.7.8']);
    expect(left(planned)).toEqual([
      "www.shop.com. A: it is an address of this service's proxy",
      "www.shop.com. AAAA: it is an address of this service's proxy",
    ]);
  });

  it('keeps only glue below a delegation', () => {
    const planned = plan(`dev NS ns.dev
dev NS ns.a.dev
dev A 5.6.7.1
ns.dev A 5.6.7.2
ns.dev TXT "no glue"
a.dev NS ns.host.net.
ns.a.dev AAAA 2606::1
www.dev A 5.6.7.3`);
    expect(taken(planned)).toEqual([
      'dev.shop.com. 3600 NS ns.dev.shop.com.',
      'dev.shop.com. 3600 NS ns.a.dev.shop.com.',
      'ns.dev.shop.com. 3600 A 5.6.7.2',
      'ns.a.dev.shop.com. 3600 AAAA 2606::1',
    ]);
    const why = 'it is below dev.shop.com, which is delegated to other nameservers';
    expect(left(planned)).toEqual([
      `dev.shop.com. A: ${why}`,
      `ns.dev.shop.com. TXT: ${why}`,
      `a.dev.shop.com. NS: ${why}`,
      `www.dev.shop.com. A: ${why}`,
    ]);
  });

  it('has only one CNAME at a name that is an alias', () => {
    const planned = plan('www CNAME a.net.\nwww CNAME b.net.\nwww TXT "beside"\nwww A 5.6.7.8');
    expect(taken(planned)).toEqual(['www.shop.com. 3600 CNAME a.net.']);
    expect(left(planned)).toEqual([
      'www.shop.com. TXT: a name that has a CNAME record cannot have other records',
      'www.shop.com. A: a name that has a CNAME record cannot have other records',
    ]);
  });

  it('has a note if it points to a content delivery network', () => {
    const { records } = plan(`www A 104.16.1.1
www AAAA 2606:4700::1
img CNAME D111.CloudFront.net.
mail A 5.6.7.8`);
    expect(records.map(({ cdn }) => cdn)).toEqual(['Cloudflare', 'Cloudflare', 'CloudFront', undefined]);
    expect(records[0]?.note).toBe('it is an address of Cloudflare, not of your own server behind it');
    expect(records[2]?.note).toBe('it points to CloudFront');
  });
});

it.each([
  ['104.16.0.0', 'Cloudflare'],
  ['104.23.255.255', 'Cloudflare'],
  ['104.28.0.0', undefined],
  ['151.101.1.1', 'Fastly'],
  ['13.225.0.1', 'CloudFront'],
  ['23.15.0.1', 'Akamai'],
  ['75.2.60.5', 'Netlify'],
  ['75.2.60.6', undefined],
  ['2606:4700:1::1', 'Cloudflare'],
  ['2a04:4e43::1', undefined],
  ['2a04:4e42::1', 'Fastly'],
  ['5.6.7.8', undefined],
])('%s belongs to %s', (address, cdn) => {
  expect(cdnOfAddress(address.includes(':') ? parseIpv6(address) : parseIpv4(address))).toBe(cdn);
});

it.each([
  ['d111.cloudfront.net', 'CloudFront'],
  ['cloudfront.net', 'CloudFront'],
  ['notcloudfront.net', undefined],
  ['shop.com.cdn.cloudflare.net', 'Cloudflare'],
  ['www.shop.com.edgekey.net', 'Akamai'],
  ['host.net', undefined],
])('an alias to %s leads to %s', (target, cdn) => {
  expect(cdnOfTarget(parseName(target, ROOT))).toBe(cdn);
});
