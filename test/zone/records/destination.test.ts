import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { printRdata } from '../../../src/dns/record/rdata.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { API_TYPES, type ApiType, wireTypeCode } from '../../../src/zone/records/customer-types.ts';
import { parseDestination, printDestination } from '../../../src/zone/records/destination.ts';
import { RANDOM_RDATA } from '../../support/random/random-rdata.ts';
import { itemsOf, rowsOf } from '../../support/tests/rows-of.ts';
import { scale } from '../../support/tests/scale.ts';
import { APEX } from '../../support/zone/customer-records.ts';

const DIGEST = 'AB'.repeat(32);

function read(type: ApiType, text: string, mxPriority = type === 'MX' ? 10 : undefined) {
  return parseDestination(type, text, mxPriority, APEX);
}

function good(type: ApiType, text: string) {
  const parsed = read(type, text);
  if (parsed.kind === 'problem') throw new Error(parsed.message);
  return parsed;
}

/** Type, destination, its zone-file text, and the destination that comes back where it is another. */
describe('good destinations', () => {
  it.each<[ApiType, string, string, string?]>([
    ['A', '192.0.2.1', '192.0.2.1'],
    ['AAAA', '2001:DB8::0:1', '2001:db8::1', '2001:db8::1'],
    ['CNAME', 'web.example.net', 'web.example.net.'],
    ['CNAME', 'web.example.net.', 'web.example.net.', 'web.example.net'],
    ['CNAME', '@', 'example.com.', 'example.com'],
    ['CNAME', 'Web.Example.net', 'Web.Example.net.'],
    ['CNAME', '_x._domainkey.example.net', '_x._domainkey.example.net.'],
    ['CNAME', 'bücher.example', 'xn--bcher-kva.example.', 'xn--bcher-kva.example'],
    ['CNAME', '1.0/25.2.0.192.in-addr.arpa', '1.0/25.2.0.192.in-addr.arpa.'],
    ['CNAME', '*.example.net', '*.example.net.'],
    ['CNAME', 'www.', 'www.'],
    ['NS', 'ns1.example.net', 'ns1.example.net.'],
    ['PTR', 'host.example.net', 'host.example.net.'],
    ['PTR', 'a\\032printer.example.net', 'a\\032printer.example.net.'],
    ['MX', 'mx.example.net', '10 mx.example.net.'],
    ['MX', '.', '10 .'],
    ['MX', 'mail.', '10 mail.'],
    ['TXT', 'v=spf1 -all', '"v=spf1 -all"'],
    ['TXT', ' a "quoted" word; \\ ', '" a \\"quoted\\" word; \\\\ "'],
    ['TXT', '"one" "two"', '"one" "two"'],
    ['TXT', '"one"', '"one"', 'one'],
    ['TXT', '""', '""'],
    ['TXT', '"\\"x"', '"\\"x"'],
    ['TXT', '"\\255"', '"\\255"'],
    ['TXT', 'grün', '"gr\\195\\188n"'],
    ['TXT', '"grün"', '"gr\\195\\188n"', 'grün'],
    ['TXT', 'a\nb', '"a\\010b"'],
    ['TXT', '\ufeffx', '"\\239\\187\\191x"'],
    ['SRV', '0 5 5060 sip.example.net', '0 5 5060 sip.example.net.'],
    ['SRV', '0 5 5060 @', '0 5 5060 example.com.', '0 5 5060 example.com'],
    ['SRV', '0 0 0 .', '0 0 0 .'],
    ['SRV', '0 5 5060 sip.', '0 5 5060 sip.'],
    ['CAA', '0 issue "ca.example"', '0 issue "ca.example"'],
    ['CAA', '128 issue ca.example', '128 issue "ca.example"', '128 issue "ca.example"'],
    ['TLSA', `3 1 1 ${DIGEST}`, `3 1 1 ${DIGEST}`],
    ['SSHFP', `4 2 ${DIGEST}`, `4 2 ${DIGEST}`],
    ['URI', '10 1 "https://example.net/"', '10 1 "https://example.net/"'],
    ['DS', `1 13 2 ${DIGEST}`, `1 13 2 ${DIGEST}`],
    ['HTTPS', '1 . alpn=h2,h3', '1 . alpn=h2,h3'],
    ['HTTPS', '0 web.example.net', '0 web.example.net.', '0 web.example.net.'],
    ['HTTPS', '0 @', '0 example.com.', '0 example.com.'],
    ['SVCB', '1 svc.example.net. port=53', '1 svc.example.net. port=53'],
    ['NAPTR', '100 10 "u" "E2U+sip" "!^.*$!sip:a@b!" .', '100 10 "u" "E2U+sip" "!^.*$!sip:a@b!" .'],
    ['URI', '\\# 5 000a000161', '10 1 "a"', '10 1 "a"'],
    ...(rowsOf(`
HTTPS | 1 a\\033b.example.net. alpn=h2 | 1 a\\!b.example.net. alpn=h2 | 1 a\\033b.example.net. alpn=h2
NAPTR | 100 10 "s" "SIP+D2U" "" _sip._udp.example.net | 100 10 "s" "SIP+D2U" "" _sip._udp.example.net. | 100 10 "s" "SIP+D2U" "" _sip._udp.example.net.`) as [
      ApiType,
      string,
      string,
      string,
    ][]),
    ['SRV', '( 0 5 ; comment\n 5060 h.example )', '0 5 5060 h.example.', '0 5 5060 h.example'],
  ])('%s %s', (type, text, zoneFileText, back = text) => {
    const parsed = good(type, text);
    expect(printRdata(wireTypeCode(type as Exclude<ApiType, 'ANAME'>), parsed.rdata)).toBe(zoneFileText);
    const printed = printDestination(type, parsed.rdata);
    expect(printed).toEqual({ destination: back, ...(type === 'MX' && { mxPriority: 10 }) });
    expect(parseDestination(type, printed.destination, printed.mxPriority, APEX)).toEqual(parsed);
  });

  it('an ANAME is its target', () => {
    const parsed = good('ANAME', 'web.example.net.');
    expect(Buffer.from(parsed.rdata).toString('latin1')).toBe('\x03web\x07example\x03net\0');
    expect(printDestination('ANAME', parsed.rdata)).toEqual({ destination: 'web.example.net' });
  });

  it('TXT is cut at 255 octets, also inside a character, and comes back whole', () => {
    const text = 'ü'.repeat(200);
    const parsed = good('TXT', text);
    expect([parsed.rdata[0], parsed.rdata[256], parsed.rdata.length]).toEqual([255, 145, 402]);
    expect(printDestination('TXT', parsed.rdata)).toEqual({ destination: text });
  });
});

describe('a host of one label without a dot', () => {
  it.each<[ApiType, string]>([
    ['CNAME', 'www'],
    ['ANAME', 'www'],
    ['NS', 'www'],
    ['MX', 'www'],
    ['PTR', 'www'],
    ['SRV', '0 5 5060 www'],
    ['HTTPS', '1 www alpn=h2'],
    ['NAPTR', '100 10 "s" "SIP+D2U" "" www'],
  ])('is refused for %s, and both names that it could be are offered', (type, text) => {
    const parsed = read(type, text);
    expect(parsed).toMatchObject({ kind: 'problem', field: 'destination' });
    expect(parsed.kind === 'problem' && parsed.message).toBe(
      '"www" has no dot, so it would be the top-level name "www."; write "www.example.com" for the name in this domain, or "www." for the top-level one',
    );
  });

  it('is offered in letters that are accepted, Unicode too', () => {
    const parsed = read('CNAME', 'bücher');
    const offered =
      parsed.kind === 'problem' ? parsed.message.matchAll(/write "([^"]+)".* or "([^"]+)"/g) : [];
    const [[, own, top] = []] = [...offered] as unknown as string[][];
    expect([own, top]).toEqual(['bücher.example.com', 'bücher.']);
    for (const text of [own, top]) expect(read('CNAME', text as string).kind).toBe('rdata');
  });
});

const BAD = rowsOf(`
A | 192.0.2 / 192.0.2.256 / 2001:db8::1 / \\# 4 c0000201
AAAA | 192.0.2.1 / fe80::1%eth0
CNAME | 192.0.2.1 / 192.0.2.1. / 2001:db8::1 / . / a b.example.net / a..b / http://example.net/
ANAME | *.example.net
NS | 192.0.2.1 / .
PTR | .
MX | 192.0.2.1 / 10 mx.example.net / *.example.net
TXT | "open / "\\999"
SRV | 0 5 5060 192.0.2.1 / 0 5 sip.example.net / 0 5 65536 sip.example.net / \\# 12 0000000013c40231320131013400
CAA | 0 issue / 256 issue "x"
TLSA | 3 1 1 xyz
SSHFP | 4 2 abcd
URI | 10 1 ""
DS | 1 13 2 abcd
HTTPS | 1 / 1 . alpn=h2 alpn=h3 / 1 192.0.2.1 alpn=h2
NAPTR | 1 1 u E2U+sip`).flatMap(([type, texts]) =>
  itemsOf(texts).map((text) => [type as ApiType, text] as const),
);

describe('bad destinations', () => {
  it.each<readonly [ApiType, string]>([
    ...API_TYPES.map((type) => [type, ''] as const),
    ['A', ' 192.0.2.1'],
    ['TXT', '"a"\n"b"'],
    ['TXT', `"${'a'.repeat(256)}"`],
    ['TXT', '\ud800'],
    ['TXT', 'a'.repeat(70_000)],
    ...BAD,
  ])('%s %s', (type, text) => {
    expect(read(type, text)).toEqual({
      kind: 'problem',
      field: 'destination',
      message: expect.stringMatching(/\S/),
    });
  });

  it('the priority belongs to MX, from 0 to 65535', () => {
    const fieldOf = (type: ApiType, priority: number | undefined) => {
      const parsed = parseDestination(type, 'a.example.net', priority, APEX);
      return parsed.kind === 'problem' ? parsed.field : 'fine';
    };
    expect([undefined, -1, 65_536, 1.5, Number.NaN].map((priority) => fieldOf('MX', priority))).toEqual(
      Array(5).fill('mx_priority'),
    );
    expect([0, 65_535].map((priority) => fieldOf('MX', priority))).toEqual(['fine', 'fine']);
    expect(fieldOf('CNAME', 0)).toBe('mx_priority');
  });
});

describe('any rdata of a type', () => {
  it.each([...API_TYPES])('%s is printed as a destination that is read as the same rdata', (type) => {
    const code = type === 'ANAME' ? TYPE.CNAME : wireTypeCode(type);
    let refused = 0;
    fc.assert(
      fc.property(RANDOM_RDATA.get(code) as fc.Arbitrary<Uint8Array>, (rdata) => {
        const { destination, mxPriority } = printDestination(type, rdata);
        const parsed = parseDestination(type, destination, mxPriority, APEX);
        if (parsed.kind === 'problem') {
          // a zone may contain hosts that customers cannot write: the root, wildcards
          expect(parsed.message).toMatch(/wildcard|root/);
          refused++;
          return;
        }
        expect(Buffer.from(parsed.rdata).toString('hex')).toBe(Buffer.from(rdata).toString('hex'));
      }),
      { numRuns: scale(300, 100) },
    );
    expect(refused).toBeLessThan(scale(150, 50));
  });

  it('any text is read or refused, never an exception, and what is read comes back', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string().map((s) => `"${s}`),
      fc.stringMatching(/^[0-9 .@\\"#a-f:()-]{1,40}$/),
    );
    fc.assert(
      fc.property(fc.constantFrom(...API_TYPES), text, (type, destination) => {
        const priority = type === 'MX' ? 0 : undefined;
        const parsed = parseDestination(type, destination, priority, APEX);
        if (parsed.kind === 'problem') return;
        const printed = printDestination(type, parsed.rdata);
        expect(parseDestination(type, printed.destination, printed.mxPriority, APEX)).toEqual(parsed);
      }),
      { numRuns: scale(3000, 60) },
    );
  });
});

describe('a text of hundreds of thousands of characters', () => {
  const UNITS = ['a.', 'ü', '1:', '"a" ', '\\1', '(', ' ', '1.'];

  it.each(API_TYPES)('is refused for %s by its length alone', (type) => {
    for (const unit of UNITS) {
      const message = expect.stringContaining('more than 300000 characters');
      expect(read(type, unit.repeat(400_000))).toMatchObject({ kind: 'problem', message });
    }
  });

  it.each(API_TYPES)('that is no %s is not quoted as a whole', (type) => {
    for (const unit of UNITS) {
      const parsed = read(type, unit.repeat(5000));
      if (parsed.kind === 'problem') expect(parsed.message.length).toBeLessThan(400);
    }
  });
});
