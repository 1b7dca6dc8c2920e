import { describe, expect, it } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { inOneGo } from '../../../src/dns/zone-file/in-one-go.ts';
import { type ParsedRecords, parseRecords } from '../../../src/zone/import/parse-records.ts';
import { wordsOf } from '../../support/tests/rows-of.ts';

const APEX = parseName('example.com.');

function parse(text: string): ParsedRecords {
  return inOneGo(parseRecords(text, APEX));
}

/** `www 300 A 192.0.2.1`, MX with its priority in front, and what else is said. */
function lines(text: string): string[] {
  return parse(text).records.map(({ name, ttl, type, mx_priority, destination, ...more }) => {
    const settings = Object.keys(more).length > 0 ? ` ${JSON.stringify(more)}` : '';
    return `${name} ${ttl} ${type} ${mx_priority === undefined ? '' : `${mx_priority} `}${destination}${settings}`;
  });
}

function errors(text: string): string[] {
  return parse(text).errors.map(({ line, column }) => `${line}:${column}`);
}

describe('a zone file', () => {
  it.each([
    ['www A 192.0.2.1', ['www 300 A 192.0.2.1']],
    ['@ MX 10 mail', ['@ 300 MX 10 mail.example.com']],
    ['example.com. 60 IN MX 0 .', ['@ 60 MX 0 .']],
    ['$TTL 1h\n@ TXT "v=spf1 " "-all"', ['@ 3600 TXT "v=spf1 " "-all"']],
    ['a TXT "x\\000y"', ['a 300 TXT "x\\000y"']],
    ['$ORIGIN sub\na A 192.0.2.1\n\tAAAA ::1', ['a.sub 300 A 192.0.2.1', 'a.sub 300 AAAA ::1']],
    [
      'a 1 A 192.0.2.1\nb 1w A 192.0.2.1\nc A 192.0.2.1',
      ['a 60 A 192.0.2.1', 'b 86400 A 192.0.2.1', 'c 86400 A 192.0.2.1'],
    ],
    ['$GENERATE 1-2 h$ A 192.0.2.$', ['h1 300 A 192.0.2.1', 'h2 300 A 192.0.2.2']],
    ['@ ANAME lb.example.net.\nw IN ALIAS lb', ['@ 300 ANAME lb.example.net', 'w 300 ANAME lb.example.com']],
    ['_s._tcp SRV 1 2 3 h', ['_s._tcp 300 SRV 1 2 3 h.example.com']],
    ['w HTTPS 1 . alpn=h2', ['w 300 HTTPS 1 . alpn=h2']],
    ['www.example.com A 192.0.2.1', ['www.example.com.example.com. 300 A 192.0.2.1']],
    ['w A 192.0.2.1 ; zonefleet proxied=true port=80', ['w 300 A 192.0.2.1 {"proxied":true,"port":80}']],
    ['w TXT ( "a" ; one\n "b" ) ; zonefleet comment="two"', ['w 300 TXT "a" "b" {"comment":"two"}']],
    ['w TXT "; zonefleet proxied=true"', ['w 300 TXT ; zonefleet proxied=true']],
    ['t TXT x\nt TXT x', ['t 300 TXT x', 't 300 TXT x']],
    ['a A 192.0.2.1\rb A 192.0.2.2\r', ['a 300 A 192.0.2.1', 'b 300 A 192.0.2.2']],
    [
      't TXT x ; cf_tags=cf-proxied:true\nu TXT x ; zonefleet proxied=true comment="y"',
      ['t 300 TXT x', 'u 300 TXT x {"comment":"y"}'],
    ],
    ['', []],
  ])('is read as import items: %j', (text, expected) => {
    expect([lines(text), errors(text)]).toEqual([expected, []]);
  });

  it('reports every line that it cannot read, and reads the others', () => {
    const text = [
      'a A 192.0.2.256',
      'b A 192.0.2.1',
      'b..c A 192.0.2.1',
      '\tTXT "of no owner"',
      '$INCLUDE x',
      'c BOGUS x',
      'd TXT "open',
      'e MX ( 10',
      'f A 192.0.2.2 ; zonefleet proxy=true',
      'g.example.net. A 192.0.2.1',
      'h CNAME .',
      'i.*.j A 192.0.2.1',
      'k NS *.x',
      '$ORIGIN a..b.',
      'l A 192.0.2.1',
      'm.example.com. A 192.0.2.3',
      'n.example.com. CNAME m',
      '$ORIGIN example.com.',
      '$GENERATE 1-70000 h$ A 192.0.2.1',
      'o A 192.0.2.4',
    ].join('\n');
    expect(errors(text)).toEqual(
      wordsOf(`
      1:5 3:1 4:2 5:10 6:3 7:7 8:6 9:1 10:1 11:1 12:1 13:1 14:9 15:1 17:22 19:11`),
    );
    expect(lines(text)).toEqual(['b 300 A 192.0.2.1', 'm 300 A 192.0.2.3', 'o 300 A 192.0.2.4']);
  });

  it.each<[string, string[], string[]]>([
    ['a A 192.0.2.1\n"d TXT x\n TXT "ford"', ['2:1', '3:2'], ['a 300 A 192.0.2.1']],
    ['a A 192.0.2.1\nd\\\n TXT "ford"', ['2:2', '3:2'], ['a 300 A 192.0.2.1']],
    ['a A 192.0.2.1\n "d\n TXT x', ['2:2'], ['a 300 A 192.0.2.1', 'a 300 TXT x']],
    ['$ORIGIN x\n$ORIGIN "y\nb A 192.0.2.1', ['2:9', '3:1'], []],
    ['$ORIGIN x\n$ORIGIN y (\nb A 192.0.2.1', ['2:11', '3:1'], []],
    ['$ORIGIN x\n$ORIGIN y z\nb A 192.0.2.1', ['2:11', '3:1'], []],
    ['$TTL 60\n$TTL bogus\nb A 192.0.2.1\nc 90 A 192.0.2.1', ['2:6', '3:1'], ['c 90 A 192.0.2.1']],
    ['$TTL 60\n$TTL "1h\nb A 192.0.2.1\n$TTL 70\nc A 192.0.2.1', ['2:6', '3:1'], ['c 70 A 192.0.2.1']],
    ['c 99999999999 A 192.0.2.1', ['1:3'], []],
  ])('does not guess what a bad line leaves open: %j', (text, wrong, expected) => {
    expect([errors(text), lines(text)]).toEqual([wrong, expected]);
  });

  it('may have thousands of bad lines', () => {
    const text = Array.from({ length: 6000 }, (_, i) =>
      i % 3 === 0 ? `h${i} A 192.0.2.1` : `h${i} A x`,
    ).join('\n');
    const { records, errors } = parse(text);
    expect([records.length, errors.length]).toEqual([2000, 4000]);
  });

  it('may be in another encoding, in its comments', () => {
    expect(lines('a A 192.0.2.1 ; M\ufffdller')).toEqual(['a 300 A 192.0.2.1']);
    expect(errors('a A 192.0.2.1 ; M\ufffdller\nb TXT "M\ufffdller"')).toEqual(['2:7']);
  });

  it('has records that are not imported, and says why', () => {
    const { records, errors, skipped } = parse(`@ 3600 SOA ns1 host 1 2 3 4 5
@ NS ns1.example.net.
@ DS 1 8 2 ${'0'.repeat(64)}
@ DNSKEY 257 3 13 AAAA
w RRSIG A 13 3 300 20300101000000 20290101000000 1 example.com. AAAA
w HINFO "a" "b"
w TYPE65280 \\# 1 00
w A 192.0.2.1
W.example.com. 60 A 192.0.2.1
c CNAME X.example.net.
c CNAME x.EXAMPLE.net.
sub NS ns1.example.net.`);
    expect(errors).toEqual([]);
    expect(skipped.map(({ line, name, type }) => `${line} ${name} ${type}`).join(', ')).toBe(
      '1 @ SOA, 2 @ NS, 3 @ DS, 4 @ DNSKEY, 5 w RRSIG, 6 w HINFO, 7 w TYPE65280, 9 w A, 11 c CNAME',
    );
    expect(skipped.at(-1)?.reason).toBe('the same record stands in line 10');
    expect(records.map(({ name, type }) => `${name} ${type}`)).toEqual(['w A', 'c CNAME', 'sub NS']);
  });
});

describe('the export of another service', () => {
  it('Cloudflare: proxied ones are known', () => {
    const text = `;;
;; Domain:     example.com.
;;
example.com\t3600\tIN\tSOA\ta.ns.cloudflare.com. dns.cloudflare.com. 2050 10000 2400 604800 3600

;; NS Records
example.com.\t86400\tIN\tNS\ta.ns.cloudflare.com.

;; A Records
example.com.\t1\tIN\tA\t192.0.2.1 ; cf_tags=cf-proxied:true
mail.example.com.\t1\tIN\tA\t192.0.2.2 ; cf_tags=cf-proxied:false
;; TXT Records
example.com.\t1\tIN\tTXT\t"v=spf1 include:_spf.mx.cloudflare.net ~all"`.replaceAll('\n', '\r\n');
    expect(errors(text)).toEqual([]);
    expect(lines(text)).toEqual([
      '@ 60 A 192.0.2.1 {"proxied":true}',
      'mail 60 A 192.0.2.2',
      '@ 60 TXT v=spf1 include:_spf.mx.cloudflare.net ~all',
    ]);
  });

  it('BIND: blank owners, $TTL and parentheses', () => {
    const text = `$ORIGIN .
$TTL 3600\t; 1 hour
example.com\t\tIN SOA\tns1.example.com. hostmaster.example.com. (
\t\t\t\t2026110100 ; serial
\t\t\t\t10800      ; refresh (3 hours)
\t\t\t\t3600 604800 3600 )
\t\t\tNS\tns1.example.com.
\t\t\tMX\t10 mail.example.com.
$ORIGIN example.com.
mail\t\t\tA\t192.0.2.2
\t\t\tAAAA\t2001:db8::2
www\t\t300\tCNAME\texample.com.`;
    expect(errors(text)).toEqual([]);
    expect(lines(text)).toEqual([
      '@ 3600 MX 10 mail.example.com',
      'mail 3600 A 192.0.2.2',
      'mail 3600 AAAA 2001:db8::2',
      'www 300 CNAME example.com',
    ]);
  });

  it('PowerDNS: ALIAS, also by its number', () => {
    const text = 'example.com.\t300\tIN\tALIAS\tlb.example.net.\n*.w 60 TYPE65401 \\# 3 016100';
    expect(lines(text)).toEqual(['@ 300 ANAME lb.example.net', '*.w 60 ANAME a.']);
  });
});
