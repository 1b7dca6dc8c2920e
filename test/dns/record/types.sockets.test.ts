import { isIPv4, isIPv6 } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TextError } from '../../../src/dns/errors.ts';
import { parseName } from '../../../src/dns/name.ts';
import { parseIpv4, parseIpv6, printIpv4, printIpv6 } from '../../../src/dns/record/ip-address.ts';
import {
  checkRdata,
  nameFields,
  parseRdata,
  printRdata,
  rdataNames,
  readRdata,
} from '../../../src/dns/record/rdata.ts';
import { RECORD_TYPES } from '../../../src/dns/record/record-types.ts';
import type { Token } from '../../../src/dns/record/token.ts';
import { ZoneFileLexer } from '../../../src/dns/zone-file/zone-file-lexer.ts';
import { scale } from '../../support/tests/scale.ts';
import { invalidRecords, UNKNOWN_TYPE, validRecords } from '../../support/zone/record-cases.ts';

// Checks every record type against its valid and invalid text in fixtures/records (one case per line).

const ORIGIN = parseName('example.');

function tokensOf(text: string): readonly Token[] {
  const problems: string[] = [];
  const entry = new ZoneFileLexer(text, (_line, _column, message) => problems.push(message)).next();
  expect(problems).toEqual([]);
  return entry?.tokens ?? [];
}

describe('every record type with a text form of its own', () => {
  it('has cases of valid and of invalid text', () => {
    const types = [...RECORD_TYPES.keys(), UNKNOWN_TYPE];
    for (const cases of [validRecords, invalidRecords])
      expect(new Set(cases.map(({ type }) => type))).toEqual(new Set(types));
  });
});

describe('valid rdata', () => {
  it.each(validRecords)('$text', ({ type, text, canonical, wire }) => {
    const rdata = parseRdata(type, tokensOf(text), ORIGIN);
    expect(Buffer.from(rdata).toString('hex')).toBe(Buffer.from(wire).toString('hex'));
    checkRdata(type, rdata);
    expect(printRdata(type, rdata)).toBe(canonical);
    expect(parseRdata(type, tokensOf(canonical), undefined)).toEqual(wire);
    const generic = `\\# ${wire.length} ${Buffer.from(wire).toString('hex')}`;
    expect(parseRdata(type, tokensOf(generic), undefined)).toEqual(wire);
    expect(readRdata(type, Uint8Array.of(9, ...wire, 9), 1, wire.length)).toEqual(wire);
    expect(nameFields(type).length).toBeLessThanOrEqual(rdataNames(type, rdata).length);
  });
});

describe('invalid rdata', () => {
  it.each(invalidRecords)('$text', ({ type, text, field, message }) => {
    const tokens = tokensOf(text);
    let fault: unknown;
    try {
      parseRdata(type, tokens, ORIGIN);
    } catch (error) {
      fault = error;
    }
    expect(fault).toBeInstanceOf(TextError);
    expect(fault).toMatchObject({ field, message: expect.stringContaining(message), line: 1 });
    expect(tokens.map(({ column }) => column)).toContain((fault as TextError).column);
  });
});

/** Text that resembles an address. */
const nearly = fc
  .array(fc.constantFrom(':', '::', '0', '1', 'a', 'ffff', '12345', '.', '192.0.2.1', '256', '01', 'g'), {
    maxLength: 17,
  })
  .map((parts) => parts.join(''));

function accepts(parse: (text: string) => unknown, text: string): boolean {
  try {
    parse(text);
    return true;
  } catch (error) {
    if (error instanceof TextError) return false;
    throw error;
  }
}

describe('an IP address', () => {
  it('is accepted exactly if Node accepts it', () => {
    fc.assert(
      fc.property(fc.oneof(nearly, fc.ipV4(), fc.ipV6()), (text) => {
        expect(accepts(parseIpv4, text)).toBe(isIPv4(text));
        expect(accepts(parseIpv6, text)).toBe(isIPv6(text));
      }),
      { numRuns: scale(5000, 1000) },
    );
  });

  it('is parsed from its printed text unchanged', () => {
    const groups = fc.array(fc.constantFrom(0, 0, 0, 1, 0xffff, 0xabc), { minLength: 8, maxLength: 8 });
    fc.assert(
      fc.property(groups, fc.uint8Array({ minLength: 4, maxLength: 4 }), (parts, v4) => {
        const octets = Uint8Array.from(parts.flatMap((group) => [group >> 8, group & 255]));
        expect(parseIpv6(printIpv6(octets))).toEqual(octets);
        expect(parseIpv4(printIpv4(v4))).toEqual(v4);
      }),
      { numRuns: scale(2000, 500) },
    );
  });

  it.each([
    ['2001:0DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['0:0:0:0:0:0:0:0', '::'],
    ['1:0:0:0:0:0:0:0', '1::'],
    ['::ffff:192.0.2.1', '::ffff:192.0.2.1'],
    ['::192.0.2.1', '::c000:201'],
  ])('%s is printed according to RFC 5952 as %s', (text, canonical) => {
    expect(printIpv6(parseIpv6(text))).toBe(canonical);
  });

  it('has no zone identifier', () => {
    expect(() => parseIpv6('fe80::1%eth0')).toThrow(TextError);
  });
});
