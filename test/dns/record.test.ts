import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TextError, WireError } from '../../src/dns/errors.ts';
import { parseName } from '../../src/dns/name.ts';
import {
  parseBase32Hex,
  parseBase64,
  parseHex,
  printBase32Hex,
  printBase64,
  printHex,
} from '../../src/dns/record/base-encodings.ts';
import {
  parseCharacterString,
  printCharacterString,
  printWord,
} from '../../src/dns/record/character-string.ts';
import { characterString, checked, numberOrMnemonic, u8, u32 } from '../../src/dns/record/fields.ts';
import {
  addressOctets,
  isInNetwork,
  type Network,
  networksOf,
  parseNetwork,
} from '../../src/dns/record/network.ts';
import {
  checkRdata,
  nameFields,
  parseRdata,
  printRdata,
  rdataNames,
  readRdata,
} from '../../src/dns/record/rdata.ts';
import { RECORD_TYPES } from '../../src/dns/record/record-types.ts';
import {
  keysIn,
  parseServiceValue,
  serviceKey,
  serviceKeyName,
  serviceValueFault,
} from '../../src/dns/record/service-parameters.ts';
import type { Token } from '../../src/dns/record/token.ts';
import { TokenReader } from '../../src/dns/record/token-reader.ts';
import { WireReader } from '../../src/dns/record/wire-reader.ts';
import { TYPE, typeCode, typeMnemonic } from '../../src/dns/type-codes.ts';
import { ZoneFileLexer } from '../../src/dns/zone-file/zone-file-lexer.ts';
import { RANDOM_RDATA } from '../support/random/random-rdata.ts';
import { wordsOf } from '../support/tests/rows-of.ts';
import { scale } from '../support/tests/scale.ts';

const of = (text: string) => Uint8Array.from(Buffer.from(text, 'latin1'));

const RUNS = { numRuns: scale(5000, 30) };
const types = [...RANDOM_RDATA].map(([type, rdata]) => ({ type, mnemonic: typeMnemonic(type), rdata }));

/** Returns the tokens of the rdata, placed in a zone file between two other lines. */
function tokensInZoneFile(type: number, text: string): readonly Token[] {
  const problems: string[] = [];
  const file = `a. 1 IN A 192.0.2.1\nb. 1 IN ${typeMnemonic(type)} ${text}\nc. 1 IN A 192.0.2.1\n`;
  const lexer = new ZoneFileLexer(file, (_line, _column, message) => problems.push(message));
  const entries = [lexer.next(), lexer.next(), lexer.next(), lexer.next()];
  const isAlone = problems.length === 0 && entries[2]?.tokens[0]?.text === 'c.' && entries[3] === undefined;
  if (!isAlone) expect.fail(`not one line: ${text} ${problems}`);
  return entries[1]?.tokens.slice(4) ?? [];
}

/** True if the octets are equal. `toEqual` is far slower. */
const isSame = (a: Uint8Array, b: Uint8Array) => Buffer.compare(a, b) === 0;

function isRefused(type: number, wire: Uint8Array): boolean {
  try {
    checkRdata(type, wire);
    return false;
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    return true;
  }
}

/** Runs `act` and rethrows all errors except WireError. */
function quietly(act: () => unknown): void {
  try {
    act();
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
  }
}

describe('random well-formed rdata', () => {
  it('exists for every type', () => {
    expect(new Set(types.map(({ type }) => type))).toEqual(new Set([...RECORD_TYPES.keys(), 65280]));
  });

  it.each(types)('of $mnemonic is printed as one line that parses to the same octets', ({ type, rdata }) => {
    fc.assert(
      fc.property(rdata, (wire) => {
        checkRdata(type, wire);
        const text = printRdata(type, wire);
        const isOneLine = (type === TYPE.APL && wire.length === 0 ? /^$/ : /^[\x20-\x7e]+$/).test(text);
        const parsed = parseRdata(type, tokensInZoneFile(type, text), undefined);
        return isOneLine && isSame(parsed, wire) && isSame(readRdata(type, wire, 0, wire.length), wire);
      }),
      RUNS,
    );
  });

  it.each(
    types.filter(({ type }) => nameFields(type).length > 0),
  )('of $mnemonic has its compressible names at the positions of nameFields', ({ type, rdata }) => {
    fc.assert(
      fc.property(rdata, (wire) => {
        const names = rdataNames(type, wire);
        let at = 0;
        for (const [i, { skip }] of nameFields(type).entries()) {
          at += skip;
          const name = names[i] as string;
          if (Buffer.from(wire.subarray(at, at + name.length)).toString('latin1') !== name) return false;
          at += name.length;
        }
        return true;
      }),
      RUNS,
    );
  });

  it.each(
    types.filter(({ type }) => RECORD_TYPES.has(type)),
  )('of $mnemonic is refused if it is truncated or has trailing octets', ({ type, rdata }) => {
    const openEnded = new Set(
      wordsOf(
        'URI CAA TLSA SMIMEA OPENPGPKEY CERT TXT SPF ZONEMD DNSKEY CDNSKEY KEY DHCID RRSIG DS CDS SSHFP',
      ).map(typeCode),
    );
    fc.assert(
      fc.property(rdata, (wire) => {
        // a list may have no prefix (RFC 3123 §5)
        if (type !== TYPE.APL && !isRefused(type, wire.subarray(0, 0))) return false;
        return openEnded.has(type) || isRefused(type, Uint8Array.of(...wire, 0));
      }),
      RUNS,
    );
  });
});

describe('random octets', () => {
  const type = fc.oneof(fc.constantFrom(...RECORD_TYPES.keys()), fc.nat(65535));
  const survivesText = (code: number, wire: Uint8Array) => {
    checkRdata(code, wire);
    const parsed = parseRdata(code, tokensInZoneFile(code, printRdata(code, wire)), undefined);
    if (!isSame(parsed, wire)) expect(parsed).toEqual(wire);
  };

  it('throw only WireError, and accepted ones can be printed and parsed', () => {
    fc.assert(
      fc.property(type, fc.uint8Array({ maxLength: 60 }), (code, wire) => {
        quietly(() => printRdata(code, wire));
        quietly(() => survivesText(code, wire));
      }),
      { numRuns: scale(200_000, 150) },
    );
  });

  it('in place of a few octets of valid rdata do the same', () => {
    const changes = fc.array(fc.tuple(fc.nat(80), fc.nat(255)), { minLength: 1, maxLength: 3 });
    const mutated = fc
      .constantFrom(...types)
      .chain(({ type: code, rdata }) => fc.tuple(fc.constant(code), rdata, changes));
    fc.assert(
      fc.property(mutated, ([code, wire, changes]) => {
        const changed = Uint8Array.from(wire);
        for (const [at, octet] of changes) if (at < changed.length) changed[at] = octet;
        quietly(() => survivesText(code, changed));
      }),
      { numRuns: scale(200_000, 150) },
    );
  });

  it('as a message result in WireError or rdata that passes its own check', () => {
    const numbers = [fc.nat(90), fc.nat(90)] as const;
    fc.assert(
      fc.property(type, fc.uint8Array({ maxLength: 80 }), ...numbers, (code, message, offset, length) => {
        quietly(() => checkRdata(code, readRdata(code, message, offset, length)));
      }),
      { numRuns: scale(200_000, 150) },
    );
  });
});

describe('compressed names', () => {
  const target = parseName('mail.example.');
  const named = Uint8Array.from(Buffer.from(target, 'latin1'));
  const read = (type: number, rdata: readonly number[]) => {
    const message = Uint8Array.of(...named, ...rdata, 0xff, 0xff);
    return Buffer.from(readRdata(type, message, named.length, rdata.length)).toString('latin1');
  };
  const POINTER = [0xc0, 0];

  it('are followed in RFC 1035 types', () => {
    for (const type of [TYPE.NS, TYPE.CNAME, TYPE.PTR]) expect(read(type, POINTER)).toBe(target);
    expect(read(TYPE.MX, [0, 10, ...POINTER])).toBe(`\0\x0a${target}`);
    expect(read(TYPE.MX, [0, 10, 1, 0x61, 0xc0, 5])).toBe(`\0\x0a${parseName('a.example.')}`);
    const timers = Array(20).fill(1);
    expect(read(TYPE.SOA, [...POINTER, ...POINTER, ...timers])).toBe(target + target + '\x01'.repeat(20));
  });

  it('are followed in the types that RFC 3597 §4 lists', () => {
    expect(read(TYPE.RP, [...POINTER, 0xc0, 5])).toBe(target + parseName('example.'));
    expect(read(TYPE.SRV, [0, 1, 0, 2, 0, 3, ...POINTER])).toBe(`\0\x01\0\x02\0\x03${target}`);
    expect(read(TYPE.NAPTR, [0, 1, 0, 2, 0, 0, 0, ...POINTER])).toBe(`\0\x01\0\x02\0\0\0${target}`);
    expect(read(TYPE.AFSDB, [0, 1, ...POINTER])).toBe(`\0\x01${target}`);
    expect(read(21, [0, 1, ...POINTER])).toBe(`\0\x01${target}`); // RT
    expect(read(14, [...POINTER, ...POINTER])).toBe(target + target); // MINFO, from RFC 1035
    expect(read(24, [...Array(18).fill(7), ...POINTER, 9, 9])).toBe(`${'\x07'.repeat(18)}${target}\x09\x09`); // SIG
  });

  it.each([
    [TYPE.DNAME, [], []],
    [TYPE.SVCB, [0, 1], []],
    [TYPE.HTTPS, [0, 1], []],
    [TYPE.NSEC, [], [0, 1, 0x40]],
    [TYPE.RRSIG, Array<number>(18).fill(0), [1]],
  ])('are malformed in newer types, such as type %i', (type, before, after) => {
    expect(() => read(type, [...before, ...POINTER, ...after])).toThrow('the name is compressed');
    expect(read(type, [...before, ...named, ...after])).toContain(target);
    expect(nameFields(type)).toEqual([]);
  });

  it('are malformed in stored rdata of any type', () => {
    for (const type of [TYPE.NS, TYPE.MX, TYPE.SOA, TYPE.SRV]) {
      expect(() => checkRdata(type, Uint8Array.of(0, 0, 0, 0, 0, 0, 0xc0, 0))).toThrow(WireError);
    }
    expect(() => checkRdata(TYPE.NS, Uint8Array.of(0xc0, 0))).toThrow(WireError);
  });

  it('must end inside the rdata', () => {
    expect(() => read(TYPE.NS, [1, 0x61])).toThrow(WireError);
    expect(() => read(TYPE.NS, [0xc0])).toThrow(WireError);
    expect(() => read(TYPE.NS, [])).toThrow(WireError);
    expect(() => read(TYPE.NS, [...POINTER, 0])).toThrow(WireError);
  });
});

it('rdata of more than 65535 octets is refused in text and on the wire', () => {
  const strings = Array.from({ length: 257 }, () => 'a'.repeat(255));
  const tokens = strings.map((text) => ({ text, quoted: true, line: 1, column: 1 }));
  expect(() => parseRdata(TYPE.TXT, tokens, undefined)).toThrow('more than 65535');
  expect(() => checkRdata(65280, new Uint8Array(65536))).toThrow(WireError);
});

it('a relative name needs an origin, and the error has field and position', () => {
  const tokens = ['10', 'mail'].map((text, i) => ({ text, quoted: false, line: 7, column: 20 + 3 * i }));
  expect(() => parseRdata(TYPE.MX, tokens, undefined)).toThrow(
    expect.objectContaining({ field: 'exchange', line: 7, column: 23 }),
  );
});

it('octets are decoded unchanged from base 16, 64 and 32', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 70 }), (octets) => {
      expect(parseHex(printHex(octets))).toEqual(octets);
      expect(parseHex(printHex(octets).toLowerCase())).toEqual(octets);
      expect(parseBase64(printBase64(octets))).toEqual(octets);
      expect(parseBase32Hex(printBase32Hex(octets))).toEqual(octets);
      expect(parseBase32Hex(printBase32Hex(octets).toLowerCase())).toEqual(octets);
    }),
  );
});

describe('text that Buffer accepts silently is refused', () => {
  it.each(['A', 'ABC', 'AG', '0x', 'A B', 'zz', 'é0'])('hex %s', (text) => {
    expect(() => parseHex(text)).toThrow(TextError);
  });

  it.each(
    'A|AA|AAA|AAAAA|AB==|AAB=|AA=A|=AAA|AA==AA==|AA-_|AA!A|AA A|AA==='.split('|'),
  )('base64 %s', (text) => {
    expect(() => parseBase64(text)).toThrow(TextError);
  });

  it.each(['0', '01', '000', '0W', '00======', '000000', 'é0', '0ı', 'ſ0'])('base32hex %s', (text) => {
    expect(() => parseBase32Hex(text)).toThrow(TextError);
  });
});

it('the test vectors of RFC 4648 §10 hold', () => {
  const of = (text: string) => Uint8Array.from(Buffer.from(text));
  const vectors = ['', 'CO', 'CPNG', 'CPNMU', 'CPNMUOG', 'CPNMUOJ1', 'CPNMUOJ1E8'];
  for (const [length, text] of vectors.entries()) {
    expect(printBase32Hex(of('foobar'.slice(0, length)))).toBe(text);
    expect(parseBase32Hex(text)).toEqual(of('foobar'.slice(0, length)));
  }
  expect(printBase64(of('fooba'))).toBe('Zm9vYmE=');
  expect(printHex(of('foobar'))).toBe('666F6F626172');
});

describe('a character-string', () => {
  it.each([
    ['plain', 'plain'],
    ['a\\"b\\\\c\\;', 'a"b\\c;'],
    ['\\000\\032\\255', '\x00 \xff'],
    ['ü', '\xc3\xbc'],
    ['\\065🧥\\066', 'A\xf0\x9f\xa7\xa5B'],
    ['', ''],
  ])('%s is read', (text, octets) => {
    expect(parseCharacterString(text)).toEqual(of(octets));
  });

  it.each(['\\', 'a\\25', '\\256', '\\ü', '\ud800', '\\065\udc00'])('%j is refused', (text) => {
    expect(() => parseCharacterString(text)).toThrow(TextError);
  });

  it('is parsed unchanged from quotes and from a bare word, in ASCII without line breaks', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (octets) => {
        const quoted = printCharacterString(octets);
        expect(quoted).toMatch(/^"[\x20-\x7e]*"$/);
        expect(parseCharacterString(quoted.slice(1, -1))).toEqual(octets);
        const word = printWord(octets);
        expect(word).toMatch(/^[\x21-\x7e]*$/);
        expect(word.replaceAll(/\\./g, '')).not.toMatch(/["();]/);
        expect(parseCharacterString(word)).toEqual(octets);
      }),
    );
  });
});

const reader = (text: string) => new TokenReader([{ text, quoted: false, line: 1, column: 1 }], undefined);

it.each([
  ['0', 0],
  ['007', 7],
  ['4294967295', 4294967295],
])('the number %s is read from text and from the wire', (text, value) => {
  expect(u32.parse(reader(text))).toBe(value);
  expect(u32.decode(new WireReader(u32.encode(value)))).toBe(value);
});

it.each([
  ...'| -1|+1|1.0|0x1|1e1|256|99999999999999999999|٣| 1'.split('|'),
])('the number %j is refused', (text) => {
  expect(() => u8.parse(reader(text))).toThrow('is not a number from 0 to 255');
});

it('mnemonics are read in any case, and names of inherited properties are refused', () => {
  const field = numberOrMnemonic(u8, { RSASHA1: 5 });
  expect([field.parse(reader('rsaSHA1')), field.parse(reader('5')), field.print(5)]).toEqual([5, 5, '5']);
  for (const text of ['constructor', 'rſasha1'])
    expect(() => field.parse(reader(text))).toThrow('not a number');
});

it('character-strings have at most 255 octets, counted after escapes and as UTF-8', () => {
  expect(characterString.parse(reader('\\255'.repeat(255)))).toHaveLength(255);
  expect(characterString.parse(reader('ü'.repeat(127)))).toHaveLength(254);
  expect(() => characterString.parse(reader('ü'.repeat(128)))).toThrow('256 octets, more than 255');
});

it('a checked field is validated in text and on the wire', () => {
  const even = checked(u8, (value) => (value % 2 === 0 ? undefined : 'it is odd'));
  expect([even.parse(reader('2')), even.decode(new WireReader(Uint8Array.of(2)))]).toEqual([2, 2]);
  expect(() => even.parse(reader('1'))).toThrow('it is odd');
  expect(() => even.decode(new WireReader(Uint8Array.of(1)))).toThrow('it is odd');
});

it.each([
  ['10.0.0.0/8', '10.255.255.255', true],
  ['10.0.0.0/8', '11.0.0.0', false],
  ['10.9.9.9/8', '10.1.1.1', true], // bits after the prefix are ignored
  ['192.0.2.7', '192.0.2.7', true],
  ['192.0.2.7', '192.0.2.6', false],
  ['0.0.0.0/0', '255.255.255.255', true],
  ['0.0.0.0/0', '::', false],
  ['2001:db8::/33', '2001:db8:7fff::1', true],
  ['2001:db8::/33', '2001:db8:8000::1', false],
])('%s has %s: %s', (network, address, expected) => {
  const octets = addressOctets(address) as Uint8Array;
  expect(isInNetwork(parseNetwork(network) as Network, octets)).toBe(expected);
});

const WRONG = '|10.0.0.0/33|::/129|10.0.0.0/8/8|10.0.0.0/x|10.0.0/8|host|/8|10.0.0.0/|10/8|10.0.0.0/-1';
const ODD = '10.0.0.0/8 |10.0.0.0/1e1|10.0.0.0/0008|fe80::1%lo/64';
it.each(`${WRONG}|${ODD}`.split('|'))('%j is not a network', (text) => {
  expect(parseNetwork(text)).toBeUndefined();
  expect(() => networksOf(text)).toThrow(RangeError);
});

const ALPN = 1;

describe('keys of service parameters', () => {
  it('have the names in their RFCs, or a number', () => {
    const names = wordsOf('mandatory alpn no-default-alpn port ipv4hint ech ipv6hint dohpath ohttp');
    for (const [key, name] of names.entries()) {
      expect(serviceKey(name)).toBe(key);
      expect(serviceKey(`key${key}`)).toBe(key);
      expect(serviceKey(serviceKeyName(key))).toBe(key);
    }
    expect(serviceKeyName(667)).toBe('key667');
    expect(serviceKeyName(1)).toBe('alpn');
  });

  it.each([
    '',
    'key',
    'key01',
    'key65535',
    'key65536',
    'Key1',
    'ALPN',
    'key-1',
  ])('%j is not a key', (name) => {
    expect(serviceKey(name)).toBeUndefined();
  });
});

describe('lists of protocols', () => {
  it.each(['', ',', 'h2,', 'a\\', 'a\\b', 'a'.repeat(256)])('%j is refused', (text) => {
    expect(() => parseServiceValue(ALPN, of(text), false)).toThrow();
  });
});

it('mandatory keys are in ascending order on the wire, for any order in text', () => {
  const wire = parseServiceValue(0, of('key667,port,alpn'), false);
  expect(keysIn(wire)).toEqual([1, 3, 667]);
  expect(serviceValueFault(0, wire)).toBeUndefined();
  for (const bad of ['\0\x03\0\x01', '\0\x03\0\x03', '\0\0', '\0', '', '\xff\xff']) {
    expect(serviceValueFault(0, of(bad)), JSON.stringify(bad)).toBeDefined();
  }
});

it.each([
  ['/dns-query{?dns}', true],
  ['/{dns}', true],
  ['/q{?a,dns,b}', true],
  ['/q{?dns*}', true],
  ['/dns-query', false],
  ['dns-query{?dns}', false],
  ['/q{?dnsx}', false],
  ['/q\xff{?dns}', false],
])('the path template %s is valid: %s', (text, valid) => {
  expect(serviceValueFault(7, of(text)) === undefined).toBe(valid);
});

// The cases in fixtures/records contain fields, lines and columns of errors in text.
const token = { text: 'a', quoted: false, line: 3, column: 5 };

it('adds the position of the token to an error of its parser, and passes on other errors', () => {
  const read = (error: Error) => () =>
    new TokenReader([token], undefined).read(token, () => {
      throw error;
    });
  expect(read(new TextError('bad'))).toThrow(expect.objectContaining({ message: 'bad', line: 3, column: 5 }));
  expect(read(new RangeError('bug'))).toThrow(RangeError);
});

it('reports a missing field at the last token, or without a position if there is none', () => {
  const tokens = new TokenReader([token], undefined);
  tokens.next();
  expect(() => tokens.next()).toThrow(
    expect.objectContaining({ message: 'the field is missing', column: 5 }),
  );
  expect(() => new TokenReader([], undefined).next()).toThrow(expect.objectContaining({ column: undefined }));
});

it('reads nothing beyond the rdata, even if the message continues', () => {
  const message = Uint8Array.of(1, 0x61, 0, 9, 9, 9);
  for (const read of ['u8', 'u16', 'u32', 'name'] as const) {
    expect(() => new WireReader(message, 3, 3)[read](), read).toThrow(WireError);
  }
  expect(() => new WireReader(message, 3, 5).take(3)).toThrow(WireError);
  for (const isCompressed of [false, true])
    expect(() => new WireReader(message, 0, 2, isCompressed).name()).toThrow(WireError);
  expect(() => new WireReader(message, 3, 3, true).name()).toThrow(WireError);
});

it('names the invalid field', () => {
  const wire = new WireReader(Uint8Array.of(0));
  wire.field = 'preference';
  expect(() => wire.u16()).toThrow('preference: the rdata is truncated');
  expect(() => new WireReader(Uint8Array.of(0)).finish()).toThrow('1 octets follow the last field');
});

it('reads plain names of at most 255 octets and without pointers', () => {
  const nameOf = (last: number) =>
    Uint8Array.from([63, 63, 63, last].flatMap((octets) => [octets, ...Array(octets).fill(0x61)]).concat(0));
  expect(new WireReader(nameOf(61)).name()).toHaveLength(255);
  expect(() => new WireReader(nameOf(62)).name()).toThrow('longer than 255');
  expect(() => new WireReader(Uint8Array.of(0, 0xc0, 0), 1).name()).toThrow('compressed');
  expect(new WireReader(Uint8Array.of(1, 0x61, 0, 0xc0, 0), 3, 5, true).name()).toBe(parseName('a.'));
});
