import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldCase, type Name, parseName, prependLabel, printName } from '../../../src/dns/name.ts';
import {
  namesBetween,
  parseRecordName,
  printOriginalName,
  printRecordName,
} from '../../../src/zone/records/record-name.ts';
import { APEX } from '../../support/zone/customer-records.ts';

describe('reading', () => {
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

describe('printing', () => {
  it.each([
    ['example.com.', '@'],
    ['www.example.com.', 'www'],
    ['*.a.example.com.', '*.a'],
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

  it('is read again as the same name, whatever its octets', () => {
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

it('delegations can stand between a name and its apex', () => {
  const between = (text: string) => [...namesBetween(parseName(text), APEX)].map(printName);
  expect(between('a.b.c.example.com.')).toEqual(['b.c.example.com.', 'c.example.com.']);
  expect(between('a.example.com.')).toEqual([]);
  expect(between('example.com.')).toEqual([]);
});
