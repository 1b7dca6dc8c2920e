import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { upperCaseAscii } from '../src/dns/ascii.ts';
import { TextError, WireError } from '../src/dns/errors.ts';
import {
  decodeName,
  encodeName,
  foldCase,
  isWildcard,
  isWithin,
  labelCount,
  labelsOf,
  type Name,
  nameInRdata,
  parentOf,
  parseName,
  prependLabel,
  printName,
  ROOT,
  replaceSuffix,
  wildcardBelow,
} from '../src/dns/name.ts';
import { parseTtl } from '../src/dns/ttl.ts';
import { CLASS, classCode, TYPE, typeCode, typeMnemonic } from '../src/dns/type-codes.ts';
import { randomName } from './support/random/random-rdata.ts';

const ORIGIN = parseName('example.');
const LABEL_63 = 'a'.repeat(63);
const names = randomName.map((wire) => Buffer.from(wire).toString('latin1') as Name);

describe('the text of a name', () => {
  it.each([
    ['.', '\0'],
    ['a.', '\x01a\0'],
    ['a', '\x01a\x07example\0'],
    ['@', '\x07example\0'],
    ['\\@', '\x01@\x07example\0'],
    ['a\\.b.', '\x03a.b\0'],
    ['a\\046b.', '\x03a.b\0'],
    ['\\000\\255.', '\x02\0\xff\0'],
    ['\\\\.', '\x01\\\0'],
    ['*.A.', '\x01*\x01A\0'],
    ['a@b.', '\x03a@b\0'],
    [`${LABEL_63}.`, `\x3f${LABEL_63}\0`],
  ])('%s is read', (text, wire) => {
    expect(parseName(text, ORIGIN)).toBe(wire);
  });

  it.each([
    ['', 'empty'],
    ['..', 'empty label'],
    ['.a.', 'empty label'],
    ['a..b.', 'empty label'],
    [`${LABEL_63}a.`, 'longer than 63'],
    ['a\\', 'lone backslash'],
    ['a\\1', 'not an octet'],
    ['a\\1x3', 'not an octet'],
    ['a\\256', 'not an octet'],
    ['ü.', 'outside ASCII'],
    ['\\ü.', 'outside ASCII'],
  ])('%s is refused', (text, message) => {
    expect(() => parseName(text, ORIGIN)).toThrow(TextError);
    expect(() => parseName(text, ORIGIN)).toThrow(message);
  });

  it.each(['a', '@'])('%s needs an origin', (text) => {
    expect(() => parseName(text)).toThrow('does not end with a dot');
  });

  it('fits into 255 octets on the wire, including the root', () => {
    const labels = `${LABEL_63}.${LABEL_63}.${LABEL_63}.`;
    expect(parseName(`${labels}${'b'.repeat(61)}.`)).toHaveLength(255);
    expect(() => parseName(`${labels}${'b'.repeat(62)}.`)).toThrow('longer than 255');
    expect(() => parseName(`${labels}${'b'.repeat(60)}`, ORIGIN)).toThrow('longer than 255');
  });

  it('is printed with a final dot, and with escapes for everything special in a zone file', () => {
    expect(printName(ROOT)).toBe('.');
    expect(printName(parseName('A.b.'))).toBe('A.b.');
    const octets = [...' "$().;@\\\x00\x7f\xff'].map((char) => char.charCodeAt(0));
    const name = `${String.fromCharCode(octets.length, ...octets)}\0` as Name;
    expect(printName(name)).toBe('\\032\\"\\$\\(\\)\\.\\;\\@\\\\\\000\\127\\255.');
  });

  it('is parsed from its printed text as the same name, for any octets', () => {
    fc.assert(
      fc.property(names, (name) => {
        const text = printName(name);
        expect(text).toMatch(/^[\x21-\x7e]+$/);
        expect(parseName(text)).toBe(name);
      }),
    );
  });
});

describe('the wire form of a name', () => {
  it('is decoded as the same name', () => {
    fc.assert(
      fc.property(names, fc.uint8Array({ maxLength: 9 }), (name, around) => {
        const message = Uint8Array.of(...around, ...encodeName(name), ...around);
        const end = around.length + name.length;
        expect(decodeName(message, around.length)).toEqual({ name, end });
        expect(nameInRdata(message, around.length)).toBe(name);
      }),
    );
  });

  it('continues at the target of a compression pointer, and ends after the pointer', () => {
    const message = Uint8Array.of(1, 0x61, 0, 1, 0x62, 0xc0, 0, 1, 0x63, 0xc0, 3, 9);
    expect(decodeName(message, 7)).toEqual({ name: parseName('c.b.a.'), end: 11 });
  });

  it.each([
    ['leads to itself', [0xc0, 0], 0, 'does not point backwards'],
    ['leads forwards', [0xc0, 2, 0], 0, 'does not point backwards'],
    ['leads to the start of its own part', [0, 1, 0x61, 0xc0, 1], 1, 'does not point backwards'],
    ['leads into its own part', [0, 2, 0x01, 0x61, 0xc0, 2], 1, 'does not point backwards'],
    ['points after an earlier pointer', [1, 0x61, 0xc0, 3, 0xc0, 0], 4, 'does not point backwards'],
    ['is truncated in a label', [3, 0x61], 0, 'exceeds the data'],
    ['is truncated before the root', [1, 0x61], 0, 'exceeds the data'],
    ['is truncated in a pointer', [0, 0xc0], 1, 'exceeds the data'],
    ['starts after the end', [0], 1, 'exceeds the data'],
    ['has a label of type 01', [0x41, 0], 0, 'unknown type'],
    ['has a label of type 10', [0x80, 0], 0, 'unknown type'],
  ])('is malformed if it %s', (_what, octets, offset, message) => {
    expect(() => decodeName(Uint8Array.from(octets), offset)).toThrow(WireError);
    expect(() => decodeName(Uint8Array.from(octets), offset)).toThrow(message);
  });

  it('is malformed above 255 octets, even through pointers', () => {
    const labels = (...sizes: number[]) => sizes.flatMap((octets) => [octets, ...Array(octets).fill(0x61)]);
    expect(() => decodeName(Uint8Array.of(...labels(63, 63, 63, 63), 0), 0)).toThrow('longer than 255');
    const full = Uint8Array.of(...labels(63, 63, 63, 60), 0, 1, 0x62, 0xc0, 0);
    expect(decodeName(full, 0).name).toHaveLength(254);
    expect(() => decodeName(full, 254)).toThrow('longer than 255');
  });

  it('cannot be a long chain of pointers', () => {
    const message = Uint8Array.from(
      [0, 0, ...Array.from({ length: 200 }, (_, i) => [0xc0, Math.max(2 * i, 0)])].flat(),
    );
    expect(decodeName(message, 2 * 127).name).toBe(ROOT);
    expect(() => decodeName(message, 2 * 128)).toThrow('too many compression pointers');
  });

  it('throws only WireError', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(310), (message, offset) => {
        try {
          const { name, end } = decodeName(message, offset);
          return name.length <= 255 && end > offset && end <= message.length;
        } catch (error) {
          if (!(error instanceof WireError)) throw error;
          return true;
        }
      }),
      { numRuns: 2000 },
    );
  });
});

describe('labels and ancestors', () => {
  const name = parseName('*.a\\.b.Example.');

  it('are counted and listed without the root', () => {
    expect([labelsOf(name), labelCount(name)]).toEqual([['*', 'a.b', 'Example'], 3]);
    expect([labelsOf(ROOT), labelCount(ROOT)]).toEqual([[], 0]);
  });

  it('include the root, which has no parent', () => {
    expect(parentOf(name)).toBe(parseName('a\\.b.Example.'));
    expect(parentOf(parseName('a.'))).toBe(ROOT);
    expect(() => parentOf(ROOT)).toThrow(RangeError);
  });

  it('determine whether a name is within another, by whole labels', () => {
    for (const above of [name, parseName('Example.'), ROOT]) expect(isWithin(name, above)).toBe(true);
    for (const [below, above] of [
      ['notexample.', 'example.'],
      ['a\\007example.', 'example.'], // the octets agree, but not the labels
      ['example.', 'a.example.'],
      ['a.example.', 'b.example.'],
    ] as const)
      expect(isWithin(parseName(below), parseName(above))).toBe(false);
  });

  it('accept another label in front up to 255 octets', () => {
    expect(prependLabel('a', ORIGIN)).toBe(parseName('a.example.'));
    expect(prependLabel('', ORIGIN)).toBeUndefined();
    expect(prependLabel('a'.repeat(64), ORIGIN)).toBeUndefined();
    const long = parseName(`${LABEL_63}.${LABEL_63}.${LABEL_63}.${'b'.repeat(59)}.`);
    expect(prependLabel('c', long)).toHaveLength(255);
    expect(prependLabel('cc', long)).toBeUndefined();
    expect(wildcardBelow(prependLabel('c', long) as Name)).toBeUndefined();
  });

  it('form a wildcard only if the leftmost label is a single asterisk', () => {
    expect(wildcardBelow(ORIGIN)).toBe(parseName('*.example.'));
    const wildcards = ['*.example.', '*a.example.', 'a.*.example.', '.'].map((text) => parseName(text));
    expect(wildcards.map(isWildcard)).toEqual([true, false, false, false]);
  });

  it('can have their end replaced by a DNAME up to 255 octets', () => {
    expect(replaceSuffix(parseName('a.b.old.'), parseName('old.'), parseName('new.test.'))).toBe(
      parseName('a.b.new.test.'),
    );
    const long = parseName(`${LABEL_63}.${LABEL_63}.${LABEL_63}.${'b'.repeat(57)}.o.`);
    expect(replaceSuffix(long, parseName('o.'), parseName('nnn.'))).toHaveLength(255);
    expect(replaceSuffix(long, parseName('o.'), parseName('nnnn.'))).toBeUndefined();
  });
});

it('folding maps only A to Z', () => {
  for (let octet = 0; octet < 256; octet++) {
    const char = String.fromCharCode(octet);
    const expected = /[A-Z]/.test(char) ? char.toLowerCase() : char;
    expect(foldCase(`\x01${char}\0` as Name)).toBe(`\x01${expected}\0`);
  }
  expect(foldCase(parseName(`${'A'.repeat(63)}.`))).toBe(parseName(`${LABEL_63}.`));
});

it('upperCaseAscii converts only a to z', () => {
  expect(upperCaseAscii('soa-Type65280_z')).toBe('SOA-TYPE65280_Z');
  expect(upperCaseAscii('ſoa ı ü ß')).toBe('ſOA ı ü ß');
});

it('an error in text has field, line and column if they are known', () => {
  const place = { field: 'port', line: 2, column: 7 };
  expect(new TextError('bad', place)).toMatchObject({ name: 'TextError', message: 'bad', ...place });
  expect(new TextError('bad')).toMatchObject({ field: undefined, line: undefined, column: undefined });
  expect(new WireError('bad')).not.toBeInstanceOf(TextError);
});

it.each([
  ['0', 0],
  ['0300', 300],
  ['4294967295', 4294967295],
  ['1s', 1],
  ['1h30m', 5400],
  ['30M1H', 5400],
  ['1W2d3H4m5S', 788645],
] as const)('%s is %i seconds', (text, seconds) => {
  expect(parseTtl(text)).toBe(seconds);
});

it.each('|h|1h30|1x|-1|1.5h|1 h|4294967296|7102w|1e3|٣'.split('|'))('%j is not a TTL', (text) => {
  expect(parseTtl(text)).toBeUndefined();
});

it('mnemonics are read in any case, and printed in upper case', () => {
  for (const [mnemonic, code] of Object.entries(TYPE)) {
    expect(typeCode(mnemonic.toLowerCase())).toBe(code);
    expect(typeMnemonic(code)).toBe(mnemonic);
  }
  for (const [mnemonic, code] of Object.entries(CLASS)) {
    expect(classCode(mnemonic.toLowerCase())).toBe(code);
  }
});

it('numbers are written as in RFC 3597 §5, even for types with a mnemonic', () => {
  expect(typeCode('TYPE65280')).toBe(65280);
  expect(typeCode('type1')).toBe(TYPE.A);
  expect(typeMnemonic(65280)).toBe('TYPE65280');
  expect(classCode('CLASS32')).toBe(32);
  expect(classCode('class1')).toBe(CLASS.IN);
});

it('returns undefined for everything else', () => {
  for (const text of '|TYPE|TYPE65536|TYPE-1|TYPE1.5|TYPE1e3|TYPE000001|ANAME|ſoa|constructor'.split('|'))
    expect(typeCode(text)).toBeUndefined();
  for (const text of ['', 'CLASS', 'CLASS65536', 'CLASSIN', 'toString'])
    expect(classCode(text)).toBeUndefined();
});
