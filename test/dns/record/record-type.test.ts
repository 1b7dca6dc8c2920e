import { describe, expect, it } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { characterString, domainName, u8, u16, u32 } from '../../../src/dns/record/fields.ts';
import { recordType } from '../../../src/dns/record/record-type.ts';
import { TokenReader } from '../../../src/dns/record/token-reader.ts';
import { WireReader } from '../../../src/dns/record/wire-reader.ts';

const reader = (...texts: string[]) =>
  new TokenReader(
    texts.map((text, i) => ({ text, quoted: false, line: 1, column: 1 + i })),
    undefined,
  );

const PAIR = recordType(
  65280,
  { low: u8, target: domainName, high: u32, other: domainName },
  {
    compression: 'sent',
    check: ({ low, high }) => (low <= high ? undefined : { field: 'low', message: 'low is above high' }),
  },
);

describe('a type made of fields', () => {
  const value = { low: 1, target: parseName('a.'), high: 2, other: parseName('b.') };
  const wire = Buffer.from('\x01\x01a\0\0\0\0\x02\x01b\0', 'latin1');

  it('reads and writes them in their order', () => {
    expect(PAIR.parse(reader('1', 'a.', '2', 'b.'))).toEqual(value);
    expect(PAIR.print(value)).toBe('1 a. 2 b.');
    expect(PAIR.decode(new WireReader(wire))).toEqual(value);
    expect(Buffer.from(PAIR.encode(value))).toEqual(wire);
  });

  it('knows its names, and where they may be compressed', () => {
    expect(PAIR.names(value)).toEqual([value.target, value.other]);
    expect(PAIR.nameFields).toEqual([{ skip: 1 }, { skip: 4 }]);
    expect(recordType(65280, { target: domainName }).nameFields).toEqual([]);
    expect(recordType(65280, { target: domainName }, { compression: 'received' }).nameFields).toEqual([]);
  });

  it('names the field at fault', () => {
    expect(() => PAIR.parse(reader('1', 'a.', 'x', 'b.'))).toThrow(
      expect.objectContaining({ field: 'high', column: 3 }),
    );
    expect(() => PAIR.parse(reader('1', 'a.'))).toThrow(expect.objectContaining({ field: 'high' }));
    expect(() => PAIR.decode(new WireReader(wire.subarray(0, 5)))).toThrow('high: the rdata ends too early');
  });

  it('judges the fields together', () => {
    expect(() => PAIR.parse(reader('3', 'a.', '2', 'b.'))).toThrow(
      expect.objectContaining({ field: 'low', message: 'low is above high' }),
    );
    const bad = Buffer.from(wire);
    bad[0] = 3;
    expect(() => PAIR.decode(new WireReader(bad))).toThrow('low: low is above high');
  });

  it('leaves nothing over', () => {
    expect(() => PAIR.parse(reader('1', 'a.', '2', 'b.', 'c.'))).toThrow(
      'more than the record has fields for',
    );
    expect(() => PAIR.decode(new WireReader(Buffer.concat([wire, wire])))).toThrow(
      'octets follow the last field',
    );
  });

  it('prints an empty string as one, in quotes', () => {
    const type = recordType(65280, { first: u16, second: characterString });
    expect(type.print({ first: 1, second: new Uint8Array(0) })).toBe('1 ""');
  });
});
