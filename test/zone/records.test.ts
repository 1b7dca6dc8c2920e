import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldCase, type Name, parseName, prependLabel, printName } from '../../src/dns/name.ts';
import { printRdata } from '../../src/dns/record/rdata.ts';
import { TYPE, typeCode } from '../../src/dns/type-codes.ts';
import { planRevert } from '../../src/zone/edit/plan-revert.ts';
import { countryOfDestination } from '../../src/zone/records/country.ts';
import { type RecordSettings, sameValue, setKey } from '../../src/zone/records/customer-record.ts';
import {
  API_TYPES,
  type ApiType,
  isAddressLike,
  isApiType,
  readApiType,
  wireTypeCode,
} from '../../src/zone/records/customer-types.ts';
import { parseDestination, printDestination } from '../../src/zone/records/destination.ts';
import { foldText, foldWithLabels } from '../../src/zone/records/fold-text.ts';
import { judgeRecord } from '../../src/zone/records/judge-record.ts';
import { rdataKey, targetOf } from '../../src/zone/records/rdata-key.ts';
import {
  namesBetween,
  parseRecordName,
  printOriginalName,
  printRecordName,
} from '../../src/zone/records/record-name.ts';
import { anyCharacter } from '../support/random/any-character.ts';
import { RANDOM_RDATA } from '../support/random/random-rdata.ts';
import { itemsOf, rowsOf } from '../support/tests/rows-of.ts';
import { scale } from '../support/tests/scale.ts';
import {
  APEX,
  applied,
  EDGES,
  type EditLines,
  edit,
  editState,
  NO_EDGES,
  newRecord,
  stored,
} from '../support/zone/customer-records.ts';
import { planEdit } from '../support/zone/plan-edit.ts';

const COUNTRIES: Readonly<Record<string, string>> = {
  '192.0.2.1': 'SE',
  '192.0.2.2': 'NL',
  '2001:db8::1': 'DE',
};
const countryOf = (address: string) => COUNTRIES[address];

it.each([
  ['A 192.0.2.1', 'SE'],
  ['AAAA 2001:db8::1', 'DE'],
  ['A 192.0.2.1 ; proxied', 'SE'],
  ['A 192.0.2.9', null],
  ['CNAME 192.0.2.1.example.net', null],
  ['ANAME web.example.net', null],
  ['TXT 192.0.2.1', null],
])('%s: %s', (line, country) => {
  expect(countryOfDestination(newRecord(`a ${line}`), countryOf)).toBe(country);
});

describe('an edit', () => {
  const before = ['1: a A 192.0.2.1', '2: b A 192.0.2.1', '3: c CNAME example.net'];
  const countries = (lines: EditLines, given: Record<number, string> = { 1: 'FR' }, told = countryOf) => {
    const state = editState(before, { countryOf: told });
    const records = state.records.map((record) => ({ ...record, destCountry: given[record.id] ?? null }));
    const planned = planEdit({ ...state, records }, edit(lines));
    if (planned.kind !== 'change') throw new Error(JSON.stringify(planned));
    return planned.ops.flatMap((op) => (op.op === 'delete' ? [] : [op.after.destCountry]));
  };

  it('sets the country of each new address', () => {
    expect(
      countries({ create: ['x A 192.0.2.2', 'y AAAA 2001:db8::1', 'z A 192.0.2.9', 'w TXT x'] }),
    ).toEqual(['NL', 'DE', null, null]);
  });

  it('keeps the country that the call specifies', () => {
    const from = (destination: string) => ({ destination, dest_country: 'IT' });
    expect(
      countries({
        update: [
          [1, from('192.0.2.2')],
          [3, from('example.org')],
        ],
      }),
    ).toEqual(['IT', 'IT']);
    expect(countries({ replace: [['b', 'A', 'A 192.0.2.2 ; dest_country=IT']] })).toEqual(['IT']);
  });

  it('determines the country again only if the destination changes', () => {
    expect(countries({ update: [[1, { destination: '192.0.2.2' }]] })).toEqual(['NL']);
    expect(countries({ update: [[1, { comment: 'x' }]] })).toEqual(['FR']);
    expect(countries({ update: [[1, { type: 'CNAME', destination: 'example.org' }]] })).toEqual([null]);
    expect(countries({ replace: [['b', 'A', 'A 192.0.2.2', 'A 192.0.2.1']] })).toEqual(['NL']);
  });

  it('determines the country again if the call removes it', () => {
    expect(countries({ update: [[1, { dest_country: '' }]] })).toEqual(['SE']);
  });

  it('restores the old country if it is reverted', () => {
    const state = editState(before, { countryOf });
    const records = state.records.map((record) => ({ ...record, destCountry: 'FR' }));
    const planned = planEdit(
      { ...state, records },
      edit({ update: [[1, { destination: '192.0.2.2' }]], delete: [2] }),
    );
    if (planned.kind !== 'change') throw new Error('it is a change');
    const then = applied(records, planned.ops);
    const ops = planned.ops.map((op) => (op.op === 'create' ? { op: op.op } : op));
    const revert = planRevert(ops, then);
    if (revert.kind !== 'edit') throw new Error('it can be taken back');
    const back = planEdit({ ...state, countryOf: undefined, records: then, recordCount: 2 }, revert.edit);
    if (back.kind !== 'change') throw new Error('it is a change');
    expect(applied(then, back.ops).map(({ destCountry }) => destCountry)).toEqual(['FR', 'FR', 'FR']);
  });
});

const value = newRecord('a A 192.0.2.1');

it('two records have the same value regardless of their ids and times', () => {
  expect(sameValue(stored(value, 1), stored(value, 2, '2026-02-02T00:00:00Z'))).toBe(true);
});

it.each([
  { name: newRecord('b A 192.0.2.1').name },
  { type: 'AAAA' as const },
  { rdata: Uint8Array.of(192, 0, 2, 2) },
  { ttl: 60 },
  { proxied: true },
  { captcha: true },
  { scheme: 'Auto' as const },
  { port: 80 },
  { hostHeader: 'x' },
  { monitor: true },
  { destCountry: 'SE' },
  { timeout: 1 },
  { comment: 'x' },
])('%o yields another value', (difference) => {
  expect(sameValue(value, { ...value, ...difference })).toBe(false);
});

it('the key of a record set consists of name and type', () => {
  expect(setKey(value.name, 'A')).toBe(setKey(newRecord('A A 192.0.2.9').name, 'A'));
  expect(setKey(value.name, 'A')).not.toBe(setKey(value.name, 'AAAA'));
});

it('the customer’s types are the thirteen of the reference and eleven more', () => {
  const reference = 'A AAAA CNAME ANAME NS TXT MX SRV PTR CAA TLSA SSHFP URI'.split(' ');
  const more = 'HTTPS SVCB DS NAPTR LOC DNAME SMIMEA OPENPGPKEY CERT HINFO DHCID'.split(' ');
  expect([...API_TYPES].sort()).toEqual([...reference, ...more].sort());
  expect(['A', 'a', 'SOA', 'TYPE65280', 'TYPE1', ''].map(isApiType)).toEqual([
    true,
    false,
    false,
    true,
    false,
    false,
  ]);
});

describe('a type', () => {
  it.each([
    ['a', 'A'],
    ['Dname', 'DNAME'],
    ['TYPE65280', 'TYPE65280'],
    ['type10', 'TYPE10'],
    ['TYPE127', 'TYPE127'],
    ['TYPE258', 'TYPE258'],
    ['TYPE65534', 'TYPE65534'],
  ])('is read in any case: %s', (text, type) => {
    expect(readApiType(text)).toEqual({ kind: 'type', type });
    expect(wireTypeCode(type as Exclude<ApiType, 'ANAME'>)).toBe(typeCode(text));
  });

  it.each([
    ['TYPE1', 'TYPE1 is A: write the type as A'],
    ['type39', 'TYPE39 is DNAME: write the type as DNAME'],
    ['TYPE99', 'TYPE99 is SPF, a type that customers cannot write'],
    ['TYPE41', 'TYPE41 is OPT, a type that customers cannot write'],
    ['TYPE46', 'TYPE46 is RRSIG, a type that customers cannot write'],
    ['TYPE128', 'TYPE128 is reserved and cannot be the type of a record'],
    ['TYPE248', 'TYPE248 is reserved and cannot be the type of a record'],
    ['TYPE255', 'TYPE255 is ANY, a type that customers cannot write'],
    ['TYPE65535', 'TYPE65535 is reserved and cannot be the type of a record'],
    ['TYPE65401', 'TYPE65401 is reserved for ANAME: write the type as ANAME'],
    ['TYPE65536', 'the number of a type is at most 65535, not 65536'],
  ])('%s is refused: %s', (text, message) => {
    expect(readApiType(text)).toEqual({ kind: 'problem', message });
  });

  it.each([
    '',
    'FOO',
    'SOA',
    'TYPE',
    'TYPE0',
    'TYPE01',
    'TYPE100000',
    'TYPE1.5',
    ' A',
    'ıNFO',
  ])('that is unknown is refused with a list of the known ones: "%s"', (text) => {
    const list = `the type must be one of ${API_TYPES.join(', ')}, or TYPE and a number, not "${text}"`;
    expect(readApiType(text)).toEqual({ kind: 'problem', message: list });
  });

  it('that is unknown is not quoted if it is long', () => {
    const read = readApiType('x'.repeat(5000));
    expect(read.kind === 'problem' && read.message).toMatch(/a number$/);
  });
});

it('all types but ANAME are wire types', () => {
  for (const type of API_TYPES) if (type !== 'ANAME') expect(wireTypeCode(type)).toBe(typeCode(type));
});

it('only four types may be proxied', () => {
  expect(API_TYPES.filter(isAddressLike)).toEqual(['A', 'AAAA', 'CNAME', 'ANAME']);
});

const DIGEST = 'AB'.repeat(32);
const LOCATION = '52 22 23.000 N 4 53 32.000 E -2.00m 1m 10000m 10m';
const AMSTERDAM = '52 22 23.000 N 4 53 32.000 E -2.00m 0m 10000m 10m';

function read(type: ApiType, text: string, mxPriority = type === 'MX' ? 10 : undefined) {
  return parseDestination(type, text, mxPriority, APEX);
}

function good(type: ApiType, text: string) {
  const parsed = read(type, text);
  if (parsed.kind === 'problem') throw new Error(parsed.message);
  return parsed;
}

/** Type, destination, its zone-file text, and the printed destination if it differs. */
describe('valid destinations', () => {
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
    ['TXT', 'he said “hi”', '"he said \\226\\128\\156hi\\226\\128\\157"'],
    ['TXT', '"“a\\"”"', '"\\226\\128\\156a\\"\\226\\128\\157"'],
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
    ['DNAME', 'new.example.net', 'new.example.net.'],
    ['DNAME', 'new.', 'new.'],
    ['LOC', LOCATION, LOCATION],
    ['LOC', '52 22 23 N 4 53 32 E -2m 0m', '52 22 23.000 N 4 53 32.000 E -2.00m 0m 10000m 10m', AMSTERDAM],
    ['SMIMEA', `3 0 1 ${DIGEST}`, `3 0 1 ${DIGEST}`],
    ['OPENPGPKEY', 'mQENBFVHm5sBCAC7', 'mQENBFVHm5sBCAC7'],
    ['CERT', 'PGP 0 0 mQENBFVHm5sB', '3 0 0 mQENBFVHm5sB', '3 0 0 mQENBFVHm5sB'],
    ['HINFO', '"ARM64" "LINUX"', '"ARM64" "LINUX"'],
    ['DHCID', 'AAIBY2/A uCccgoJb', 'AAIBY2/AuCccgoJb', 'AAIBY2/AuCccgoJb'],
    ['TYPE65280', '\\# 3 0A0B0C', '\\# 3 0A0B0C'],
    ['TYPE10', '\\# 0', '\\# 0'],
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

  it('the rdata of an ANAME is its target', () => {
    const parsed = good('ANAME', 'web.example.net.');
    expect(Buffer.from(parsed.rdata).toString('latin1')).toBe('\x03web\x07example\x03net\0');
    expect(printDestination('ANAME', parsed.rdata)).toEqual({ destination: 'web.example.net' });
  });

  it('TXT is split at 255 octets, even inside a character, and is restored completely', () => {
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
    ['DNAME', 'www'],
    ['MX', 'www'],
    ['PTR', 'www'],
    ['SRV', '0 5 5060 www'],
    ['HTTPS', '1 www alpn=h2'],
    ['NAPTR', '100 10 "s" "SIP+D2U" "" www'],
  ])('is refused for %s, and both possible names are suggested', (type, text) => {
    const parsed = read(type, text);
    expect(parsed).toMatchObject({ kind: 'problem', field: 'destination' });
    expect(parsed.kind === 'problem' && parsed.message).toBe(
      '"www" has no dot, so it would be the top-level name "www."; write "www.example.com" for the name in this domain, or "www." for the top-level one',
    );
  });

  it('is suggested in an accepted spelling, including Unicode', () => {
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
NAPTR | 1 1 u E2U+sip
DNAME | 192.0.2.1 / . / *.example.net
LOC | 91 N 4 E 0m / 52 N 4 E
SMIMEA | 3 0 1 xyz
OPENPGPKEY | %%%
CERT | PGP 0 0 / 3 0 70000 AAAA
HINFO | a
DHCID | %%%
TYPE65280 | 00 / \\# 2 00 / \\# 1 0g`).flatMap(([type, texts]) =>
  itemsOf(texts).map((text) => [type as ApiType, text] as const),
);

describe('invalid destinations', () => {
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

  it.each<[ApiType, string]>([
    ['CAA', '0 issue “ca.example”'],
    ['URI', '10 1 “https://example.net/”'],
    ['TXT', '“v=spf1 -all”'],
  ])('in typographic quotes are refused, and the straight quotation mark is named: %s %s', (type, text) => {
    const parsed = read(type, text);
    expect(parsed.kind === 'problem' && parsed.message).toMatch(
      /^“ is not a quotation mark here: write " instead/,
    );
  });

  it.each([10, undefined])('the priority of an MX record belongs into mx_priority (%s)', (mxPriority) => {
    expect(parseDestination('MX', '10 mail.example.net', mxPriority, APEX)).toMatchObject({
      field: 'destination',
      message: expect.stringContaining('put the priority into mx_priority'),
    });
  });

  it('only MX records have a priority, from 0 to 65535', () => {
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

const ALL_TYPES: readonly ApiType[] = [...API_TYPES, 'TYPE65280'];

describe('any rdata of a type', () => {
  it.each([...ALL_TYPES])('%s is printed as a destination that is read as the same rdata', (type) => {
    const code = type === 'ANAME' ? TYPE.CNAME : wireTypeCode(type);
    const anyRdata = RANDOM_RDATA.get(code) ?? fc.uint8Array({ maxLength: 300 });
    let refused = 0;
    fc.assert(
      fc.property(anyRdata, (rdata) => {
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
      { numRuns: scale(300, 60) },
    );
    expect(refused).toBeLessThan(scale(150, 30));
  });

  it('any text is read or refused without an exception, and a read text is restored', () => {
    const text = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.string().map((s) => `"${s}`),
      fc.stringMatching(/^[0-9 .@\\"#a-f:()-]{1,40}$/),
    );
    fc.assert(
      fc.property(fc.constantFrom(...ALL_TYPES), text, (type, destination) => {
        const priority = type === 'MX' ? 0 : undefined;
        const parsed = parseDestination(type, destination, priority, APEX);
        if (parsed.kind === 'problem') return;
        const printed = printDestination(type, parsed.rdata);
        expect(parseDestination(type, printed.destination, printed.mxPriority, APEX)).toEqual(parsed);
      }),
      { numRuns: scale(3000, 30) },
    );
  });
});

describe('a text of hundreds of thousands of characters', () => {
  const UNITS = ['a.', 'ü', '1:', '"a" ', '\\1', '(', ' ', '1.'];

  it.each(API_TYPES)('is refused for %s based on its length alone', (type) => {
    for (const unit of UNITS) {
      const message = expect.stringContaining('more than 300000 characters');
      expect(read(type, unit.repeat(400_000))).toMatchObject({ kind: 'problem', message });
    }
  });

  it.each(API_TYPES)('that is not a valid %s is not quoted as a whole', (type) => {
    for (const unit of UNITS) {
      const parsed = read(type, unit.repeat(5000));
      if (parsed.kind === 'problem') expect(parsed.message.length).toBeLessThan(400);
    }
  });
});

describe('text in the form for searches', () => {
  it.each([
    ['MÜLLER', 'müller'],
    ['mu\u0308ller', 'MÜLLER'],
    ['Straße', 'STRAẞE'],
    ['ΟΔΟΣ', 'οδος'],
    ['οδοσ', 'οδος'],
    ['ЗОНА', 'зона'],
    ['\u{10400}', '\u{10428}'],
  ])('%s and %s are the same', (one, other) => expect(foldText(one)).toBe(foldText(other)));

  it.each([
    ['müller', 'muller'],
    ['straße', 'strasse'],
    ['xn--mller-kva', 'müller'],
  ])('%s and %s are different', (one, other) => expect(foldText(one)).not.toBe(foldText(other)));

  it.each([
    ['xn--mller-kva', 'müller'],
    ['*.XN--MLLER-KVA.shop', '*.müller.shop'],
    ['_dmarc.xn--mller-kva', '_dmarc.müller'],
    ['10 mail.xn--mller-kva.xn--p1ai.', '10 mail.müller.рф.'],
    ['axn--mller-kva', 'axn--mller-kva'],
    ['_xn--mller-kva', '_xn--mller-kva'],
    ['xn--', 'xn--'],
    ['xn--a', 'xn--a'],
    ['xn--99999999999', 'xn--99999999999'],
  ])('with labels %s is %s', (text, folded) => expect(foldWithLabels(text)).toBe(folded));
});

const domain = { apex: APEX, edges: EDGES };
const fields = (given: Partial<RecordSettings> & { ttl?: number }) =>
  judgeRecord({ ...newRecord('www A 192.0.2.1'), ...given }, given, domain).map(({ field }) => field);

describe('ranges of fields', () => {
  it.each<[string, Partial<RecordSettings> & { ttl?: number }]>([
    ['ttl', { ttl: 59 }],
    ['ttl', { ttl: 86_401 }],
    ['ttl', { ttl: 300.5 }],
    ['ttl', { ttl: Number.NaN }],
    ['port', { port: 0 }],
    ['port', { port: 65_536 }],
    ['timeout', { timeout: 0 }],
    ['timeout', { timeout: 3_601 }],
    ['scheme', { scheme: 'https' as 'Https' }],
    ['host_header', { hostHeader: 'a b' }],
    ['host_header', { hostHeader: 'a..b' }],
    ['host_header', { hostHeader: 'example.com/path' }],
    ['host_header', { hostHeader: `${'a'.repeat(64)}.example` }],
    ['dest_country', { destCountry: 'se' }],
    ['dest_country', { destCountry: 'SWE' }],
    ['comment', { comment: 'x'.repeat(1_025) }],
    ['comment', { comment: 'a\0b' }],
    ['comment', { comment: '\ud800' }],
  ])('an invalid %s is reported', (field, given) => {
    expect(fields(given)).toEqual([field]);
  });

  it('valid values are accepted', () => {
    const all = {
      ttl: 60,
      port: 1,
      timeout: 1,
      scheme: 'Auto',
      hostHeader: 'o.example.net',
      destCountry: 'SE',
      comment: '😀'.repeat(1_024),
    } as const;
    expect(fields(all)).toEqual([]);
    expect(fields({ hostHeader: null, destCountry: null, comment: null })).toEqual([]);
  });

  it('fields that the caller did not set are not checked', () => {
    expect(judgeRecord({ ...newRecord('www A 192.0.2.1'), ttl: 7, port: 0 }, {}, domain)).toEqual([]);
  });
});

it.each([
  ['@ NS ns.example.net', 'type'],
  ['@ CNAME web.example.net', 'type'],
  ['* NS ns.example.net', 'name'],
  ['a CNAME a.example.com', 'destination'],
  ['a ANAME A.example.com ; proxied', 'destination'],
  ['a DNAME A.example.com', 'destination'],
  ['a DNAME x.A.example.com', 'destination'],
  ['a DNAME b.example.com', undefined],
  ['@ DNAME www.example.com', 'destination'],
  ['@ DNAME example.net', undefined],
  ['*.a DNAME example.net', 'name'],
  ['*.a TYPE65280 \\# 1 00', undefined],
  ['a MX 0 a.example.com', undefined],
  ['@ CNAME web.example.net ; proxied', undefined],
  ['a TXT x ; proxied', 'proxied'],
])('%s: %s', (line, field) => {
  const value = newRecord(line);
  expect(judgeRecord(value, { proxied: value.proxied }, domain)[0]?.field).toBe(field);
});

it('nothing can be proxied without an edge', () => {
  const value = newRecord('a A 192.0.2.1 ; proxied');
  const bare = { apex: APEX, edges: NO_EDGES };
  expect(judgeRecord(value, { proxied: true }, bare).map(({ field }) => field)).toEqual(['proxied']);
  expect(judgeRecord(value, {}, bare)).toEqual([]);
  expect(
    judgeRecord(value, { proxied: true }, { apex: APEX, edges: { v4: [], v6: ['2001:db8::1'] } }),
  ).toEqual([]);
});

const keyOf = (line: string) => {
  const { type, rdata } = newRecord(`a ${line}`);
  return rdataKey(type, rdata);
};

it.each([
  ['CNAME WWW.example.net', 'CNAME www.Example.net', true],
  ['ANAME WWW.example.net', 'ANAME www.Example.net', true],
  ['NS NS.example.net', 'NS ns.example.net', true],
  ['PTR A.example.net', 'PTR a.example.net', true],
  ['DNAME A.example.net', 'DNAME a.example.net', true],
  ['HINFO "a" "b"', 'HINFO "A" "b"', false],
  ['TYPE65280 \\# 1 41', 'TYPE65280 \\# 1 61', false],
  ['MX 10 MX.example.net', 'MX 10 mx.example.net', true],
  ['MX 10 mx.example.net', 'MX 11 mx.example.net', false],
  ['SRV 0 5 5060 SIP.example.net', 'SRV 0 5 5060 sip.example.net', true],
  ['NAPTR 1 1 "u" "E2U+sip" "" A.example.net.', 'NAPTR 1 1 "u" "E2U+sip" "" a.example.net.', true],
  ['NAPTR 1 1 "u" "E2U+SIP" "" a.example.net.', 'NAPTR 1 1 "u" "E2U+sip" "" a.example.net.', false],
  ['TXT Hello', 'TXT hello', false],
  ['CAA 0 issue "a.example"', 'CAA 0 issue "A.example"', false],
])('%s and %s are the same record: %s', (a, b, same) => {
  expect(keyOf(a) === keyOf(b)).toBe(same);
});

it('a target is folded, and addresses have none', () => {
  const target = (line: string) => {
    const { type, rdata } = newRecord(`a ${line}`);
    return targetOf(type, rdata);
  };
  expect(target('ANAME WEB.example.net')).toBe(parseName('web.example.net.'));
  expect(target('MX 0 MX.example.net')).toBe(parseName('mx.example.net.'));
  expect(target('DNAME WEB.example.net')).toBe(parseName('web.example.net.'));
  expect(target('A 192.0.2.1')).toBeUndefined();
  expect(target('TYPE65280 \\# 1 00')).toBeUndefined();
});

describe('the text of a record name', () => {
  it.each([
    ['@', 'example.com.'],
    ['example.com', 'example.com.'],
    ['example.com.', 'example.com.'],
    ['www', 'www.example.com.'],
    ['WWW', 'www.example.com.'],
    ['www.example.com', 'www.example.com.'],
    ['www.Example.COM.', 'www.example.com.'],
    ['www.example.org', 'www.example.org.example.com.'],
    ['notexample.com', 'notexample.com.example.com.'],
    ['a.b.c', 'a.b.c.example.com.'],
    ['*', '*.example.com.'],
    ['*.a', '*.a.example.com.'],
    ['_sip._tcp', '_sip._tcp.example.com.'],
    ['bücher', 'xn--bcher-kva.example.com.'],
    ['*.bücher', '*.xn--bcher-kva.example.com.'],
    ['0/25', '0/25.example.com.'],
    ['a-*.pages', 'a-*.pages.example.com.'],
    ['**', '**.example.com.'],
    ['Printer\\032One._ipp._tcp', 'printer\\032one._ipp._tcp.example.com.'],
    ['example.com.example.com', 'example.com.example.com.'],
  ])('%s is %s', (text, full) => {
    const read = parseRecordName(text, APEX);
    expect(read.kind === 'name' ? printName(read.name) : read.message).toBe(full);
  });

  it.each([
    ...'|.|www.example.org.|a.*|a.*.example.com|*.*|a..b|a b|@.a|\\'.split('|'),
    'a'.repeat(64),
  ])('"%s" is refused', (text) => {
    expect(parseRecordName(text, APEX).kind).toBe('problem');
  });

  it('a name has at most 255 octets', () => {
    const label = 'a'.repeat(59);
    const longest = [label, label, label, label].join('.'); // 240 octets, the apex has 13
    expect(parseRecordName(longest, APEX).kind).toBe('name');
    expect(parseRecordName(`bbb.${longest}`, APEX).kind).toBe('problem');
  });
});

describe('a printed record name', () => {
  it.each([
    ['example.com.', '@'],
    ['www.example.com.', 'www'],
    ['*.a.example.com.', '*.a'],
    ['a-*.pages.example.com.', 'a-*.pages'],
    ['example.com.example.com.', 'example.com.example.com.'],
    ['www.example.com.example.com.', 'www.example.com.example.com.'],
    ['\\@.example.com.', '\\064'],
  ])('%s is %s', (full, relative) => {
    expect(printRecordName(parseName(full), APEX)).toBe(relative);
    expect(parseRecordName(relative, APEX)).toEqual({ kind: 'name', name: parseName(full) });
  });

  it('the full name ends with a dot', () => {
    expect(printOriginalName(parseName('*.a.example.com.'))).toBe('*.a.example.com.');
  });

  it('is read as the same name, for any octets', () => {
    const label = fc
      .uint8Array({ minLength: 1, maxLength: 12 })
      .map((octets) => Buffer.from(octets).toString('latin1'));
    fc.assert(
      fc.property(
        fc.array(fc.oneof(label, fc.constantFrom('example', 'com')), { maxLength: 4 }),
        (labels) => {
          const own = labels.map((octets) => (octets === '*' ? 'x' : octets));
          const name = foldCase(
            own.reduce((below: Name, octets) => prependLabel(octets, below) as Name, APEX),
          );
          for (const text of [printRecordName(name, APEX), printOriginalName(name)]) {
            expect(parseRecordName(text, APEX)).toEqual({ kind: 'name', name });
          }
        },
      ),
    );
  });
});

it('delegations are possible between a name and its apex', () => {
  const between = (text: string) => [...namesBetween(parseName(text), APEX)].map(printName);
  expect(between('a.b.c.example.com.')).toEqual(['b.c.example.com.', 'c.example.com.']);
  expect(between('a.example.com.')).toEqual([]);
  expect(between('example.com.')).toEqual([]);
});
