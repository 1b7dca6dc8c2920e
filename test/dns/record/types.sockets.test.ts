import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
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
import { typeCode, typeMnemonic } from '../../../src/dns/type-codes.ts';
import { ZoneFileLexer } from '../../../src/dns/zone-file/zone-file-lexer.ts';
import { scale } from '../../support/tests/scale.ts';

// Checks every record type against its valid and invalid text in fixtures/records (one case per line), and the valid
// text against BIND, which must produce the same octets.
const RECORDS = new URL('../../../fixtures/records/', import.meta.url);
const ORIGIN = parseName('example.');
const UNKNOWN_TYPE = 65280; // its cases are in generic.*.txt

const tables = readdirSync(RECORDS)
  .filter((file) => file.endsWith('.txt'))
  .map((file) => {
    const [stem, kind] = file.split('.') as [string, string];
    const type = stem === 'generic' ? UNKNOWN_TYPE : (typeCode(stem) as number);
    return { type, kind, cases: readCases(file) };
  });
const valid = tables
  .filter(({ kind }) => kind === 'valid')
  .flatMap(({ type, cases }) => cases.map((line) => ({ type, ...splitValid(line) })));
const invalid = tables
  .filter(({ kind }) => kind === 'invalid')
  .flatMap(({ type, cases }) => cases.map((line) => ({ type, ...splitInvalid(line) })));

function readCases(file: string): string[] {
  const lines = readFileSync(new URL(file, RECORDS), 'utf8').split('\n');
  return lines.filter((line) => line !== '' && !line.startsWith('# '));
}

function splitValid(line: string) {
  const [, text = '', canonical = '', wire = ''] = /^(.*) => (.*) \| ([0-9A-F]*)$/.exec(line) ?? refuse(line);
  return { text, canonical, wire: Uint8Array.from(Buffer.from(wire, 'hex')) };
}

function splitInvalid(line: string) {
  const [, text = '', field = '', message = ''] = /^(.*) => (\w+): (.*)$/.exec(line) ?? refuse(line);
  return { text, field, message };
}

function refuse(line: string): never {
  throw new Error(`not a case: ${line}`);
}

function tokensOf(text: string): readonly Token[] {
  const problems: string[] = [];
  const entry = new ZoneFileLexer(text, (_line, _column, message) => problems.push(message)).next();
  expect(problems).toEqual([]);
  return entry?.tokens ?? [];
}

describe('every record type with a text form of its own', () => {
  it('has cases of valid and of invalid text', () => {
    const types = [...RECORD_TYPES.keys(), UNKNOWN_TYPE];
    for (const kind of ['valid', 'invalid']) {
      const covered = tables.filter((table) => table.kind === kind && table.cases.length > 0);
      expect(new Set(covered.map(({ type }) => type)), kind).toEqual(new Set(types));
    }
  });
});

describe('valid rdata', () => {
  it.each(valid)('$text', ({ type, text, canonical, wire }) => {
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
  it.each(invalid)('$text', ({ type, text, field, message }) => {
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

/** Valid text that BIND 9.18 refuses, and the reason for accepting it. */
const REFUSED_BY_BIND: Readonly<Record<string, string>> = {
  'CAA 0 "issue" "ca.example"': 'quoted tags come from other systems',
  'LOC 0 0 0 s 0 0 0.001 w -100000.00': 'a hemisphere in lower case',
  'HTTPS 1 . ohttp alpn=h2 port=0443': 'BIND does not know RFC 9540 yet',
};
const hasBind = spawnSync('named-rrchecker', ['-h']).error === undefined;

describe.skipIf(!hasBind)(
  `the same octets as BIND${hasBind ? '' : ' (skipped: needs named-rrchecker)'}`,
  () => {
    const inputs = valid.flatMap(({ type, text, canonical, wire }) =>
      [text, canonical].map((value) => [`${typeMnemonic(type)} ${value}`, wire] as const),
    );
    const unique = [...new Map(inputs)].filter(([record]) => !(record in REFUSED_BY_BIND));
    it.each(unique)('%s', (record, wire) => {
      const checker = spawnSync('named-rrchecker', ['-u', '-o', 'example.'], {
        input: `IN ${record}\n`,
        timeout: 10_000,
      });
      const hex = /\\#\s+\d+\s*([0-9A-Fa-f\s]*)$/.exec(checker.stdout.toString())?.[1]?.replaceAll(/\s/g, '');
      expect(hex?.toLowerCase(), checker.stderr.toString()).toBe(Buffer.from(wire).toString('hex'));
    });
  },
);

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
