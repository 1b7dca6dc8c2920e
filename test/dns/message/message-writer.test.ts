import { describe, expect, test } from 'vitest';
import { MessageWriter, type OwnerCase } from '../../../src/dns/message/message-writer.ts';
import { decodeName, encodeName, foldCase, type Name, parseName, ROOT } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { queryFor } from '../../support/answer/packets.ts';

function writerOf(limit = 512, octets = 65535): MessageWriter {
  const writer = new MessageWriter();
  writer.begin(new Uint8Array(octets), limit);
  return writer;
}

function write(writer: MessageWriter, name: string, nameCase: OwnerCase = 'exact'): string {
  const start = writer.length;
  expect(writer.writeName(parseName(name), nameCase)).toBe(true);
  return Buffer.from(writer.octets.subarray(start, writer.length)).toString('latin1');
}

describe('a name', () => {
  test('that was written before is a pointer', () => {
    const writer = writerOf();
    expect(write(writer, 'www.example.')).toBe('\x03www\x07example\0');
    expect(write(writer, 'www.example.')).toBe('\xc0\x0c');
    expect(write(writer, 'example.')).toBe('\xc0\x10');
    expect(write(writer, 'ftp.example.')).toBe('\x03ftp\xc0\x10');
    expect(write(writer, 'a.ftp.example.')).toBe('\x01a\xc0\x1d');
  });
  test('of other case is not a pointer where case is kept, and is where it does not matter', () => {
    const writer = writerOf();
    write(writer, 'www.EXAMPLE.');
    expect(write(writer, 'www.example.')).toBe('\x03www\x07example\0');
    const folding = writerOf();
    write(folding, 'www.EXAMPLE.');
    expect(write(folding, 'www.example.', 'folded')).toBe('\xc0\x0c');
    expect(write(folding, 'ftp.example.', 'folded')).toBe('\x03ftp\xc0\x10');
  });
  test('folds ASCII only: octets above 127 are their own (RFC 4343)', () => {
    const writer = writerOf();
    write(writer, 'A\\200.');
    expect(write(writer, 'a\\232.', 'folded')).toBe('\x02a\xe8\0');
    expect(write(writer, 'a\\200.', 'folded')).toBe('\xc0\x0c');
  });
  test('at the root is one octet', () => {
    expect(write(writerOf(), '.')).toBe('\0');
  });
  test('behind octet 16,383 cannot be pointed to', () => {
    const writer = writerOf(65535);
    writer.length = 0x3fff;
    write(writer, 'a.example.');
    expect(write(writer, 'a.example.')).toBe('\xff\xff');
    expect(write(writer, 'example.')).toBe('\x07example\0');
    expect(write(writer, 'example.')).toBe('\x07example\0');
  });
});

describe('the question taken over from a query', () => {
  const query = queryFor('WWW.Example.', TYPE.A);
  const taken = () => {
    const writer = writerOf();
    writer.adoptQuestion(query, query.length, foldCase(parseName('www.example.')));
    return writer;
  };
  test('keeps its octets', () => {
    const writer = taken();
    expect(writer.octets.subarray(12, writer.length)).toEqual(Uint8Array.from(query.subarray(12)));
    expect(writer.octets[5]).toBe(1);
  });
  test('is what owners point to in any case', () => {
    expect(write(taken(), 'www.example.', 'folded')).toBe('\xc0\x0c');
    expect(write(taken(), 'example.', 'folded')).toBe('\xc0\x10');
    expect(write(taken(), 'ns.example.', 'folded')).toBe('\x02ns\xc0\x10');
  });
  test('is what rdata points to in the same case only', () => {
    expect(write(taken(), 'ns.Example.')).toBe('\x02ns\xc0\x10');
    expect(write(taken(), 'ns.example.')).toBe('\x02ns\x07example\0');
  });
  test('that asks for the root is not pointed to', () => {
    const writer = writerOf();
    const root = queryFor('.', TYPE.NS);
    writer.adoptQuestion(root, root.length, ROOT);
    expect(write(writer, '.', 'folded')).toBe('\0');
  });
});

describe('a record', () => {
  const owner = parseName('a.example.');
  const rdataOf = (prefix: number[], ...names: string[]) =>
    Buffer.concat([Buffer.from(prefix), ...names.map((name) => encodeName(parseName(name)))]);
  const written = (type: number, rdata: Uint8Array) => {
    const writer = writerOf();
    expect(writer.writeRecord(owner, 'exact', type, 1, 300, rdata)).toBe(true);
    const start = 12 + owner.length + 10;
    const length = (writer.octets[start - 2]! << 8) | writer.octets[start - 1]!;
    expect(start + length).toBe(writer.length);
    return { octets: length, first: (at: number): Name => decodeName(writer.octets, start + at).name };
  };

  test.each([
    ['NS', TYPE.NS, rdataOf([], 'ns.example.'), 5],
    ['CNAME', TYPE.CNAME, rdataOf([], 'a.example.'), 2],
    ['PTR', TYPE.PTR, rdataOf([], 'example.'), 2],
    ['MX', TYPE.MX, rdataOf([0, 10], 'mx.example.'), 7],
    ['SOA', TYPE.SOA, Buffer.concat([rdataOf([], 'ns.example.', 'h.ns.example.'), Buffer.alloc(20)]), 29],
  ])('of type %s has its names compressed (RFC 1035)', (_, type, rdata, octets) => {
    expect(written(type, rdata).octets).toBe(octets);
  });

  test.each([
    ['SRV', TYPE.SRV, rdataOf([0, 1, 0, 1, 0, 80], 'a.example.')],
    ['DNAME', TYPE.DNAME, rdataOf([], 'a.example.')],
    ['RP', TYPE.RP, rdataOf([], 'a.example.', 'a.example.')],
    ['TYPE65280', 65280, rdataOf([], 'a.example.')],
  ])('of type %s has its names in full (RFC 3597 §4)', (_, type, rdata) => {
    expect(written(type, rdata).octets).toBe(rdata.length);
  });

  test('that does not fit leaves no octet and no name behind', () => {
    const rdata = rdataOf([0, 10], 'mx.other.');
    const needed = owner.length + 10 + rdata.length;
    for (let limit = 12; limit < 12 + needed; limit++) {
      const writer = writerOf(limit);
      expect(writer.writeRecord(owner, 'exact', TYPE.MX, 1, 300, rdata)).toBe(false);
      expect(writer.length).toBe(12);
      writer.limit = 512;
      expect(write(writer, 'a.example.')).toBe('\x01a\x07example\0');
      expect(write(writer, 'mx.other.')).toBe('\x02mx\x05other\0');
    }
    expect(writerOf(12 + needed).writeRecord(owner, 'exact', TYPE.MX, 1, 300, rdata)).toBe(true);
  });
});
