import { describe, expect, test } from 'vitest';
import {
  encodeName,
  foldCase,
  labelsOf,
  type Name,
  parseName,
  wildcardBelow,
} from '../../../../src/dns/name.ts';
import { FoldedName } from '../../../../src/zone/image/find/folded-name.ts';
import { hashName } from '../../../../src/zone/image/hash-name.ts';
import { smallImage } from '../../../support/zone/zone-image.ts';

const HEADER = smallImage().header;

/** Reads a name that stands somewhere in a message, with `behind` octets behind it. */
function read(wire: Uint8Array, behind = 4): FoldedName | undefined {
  const name = new FoldedName(HEADER);
  const buffer = Buffer.concat([Buffer.alloc(7, 0x41), wire, Buffer.alloc(behind + 3, 0x5a)]);
  const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  const end = name.readQuestion(buffer, view, 7, 7 + wire.length + behind);
  if (end < 0) return undefined;
  expect(end).toBe(7 + wire.length);
  return name;
}

function textOf(name: FoldedName, label = 0): Name {
  const octets = name.octets.subarray(name.labelAt[label], name.length);
  return Buffer.from(octets).toString('latin1') as Name;
}

const NAMES = [
  '.',
  'a.',
  'Www.Example.TEST.',
  'ab.abc.abcd.abcde.@[`{.',
  '\\000\\255\\128\\193.\\091A\\064Z.',
  `${'X'.repeat(63)}.${'y'.repeat(63)}.${'Z'.repeat(63)}.${'w'.repeat(61)}.`,
  'a.'.repeat(127),
];

describe.each(NAMES)('%s', (text) => {
  const wire = parseName(text);
  const folded = foldCase(wire);
  const name = read(encodeName(wire)) as FoldedName;

  test('is folded, octets above 127 stay (RFC 4343 §3)', () => {
    expect(textOf(name)).toBe(folded);
    expect(name.hadUpperCase).toBe(folded !== wire);
    expect(name.labels).toBe(labelsOf(wire).length);
  });

  test('has the hash of each suffix, and of the wildcard below it, that the writer of images gives', () => {
    for (let label = 0; label <= name.labels; label++) {
      const suffix = textOf(name, label);
      expect(name.hashes[label]).toBe(hashName(HEADER, suffix));
      const wildcard = wildcardBelow(suffix);
      if (wildcard !== undefined) expect(name.wildcardHash(label)).toBe(hashName(HEADER, wildcard));
    }
  });

  test('is the same when its octets are adopted', () => {
    const adopted = new FoldedName(HEADER);
    adopted.octets.set(encodeName(wire));
    adopted.adopt(wire.length);
    expect(textOf(adopted)).toBe(folded);
    expect(adopted.hadUpperCase).toBe(folded !== wire);
    for (let label = 0; label <= name.labels; label++) {
      expect(adopted.hashes[label]).toBe(name.hashes[label]);
      expect(adopted.endsAs(label, name, label)).toBe(true);
    }
  });
});

test('what is no name, or has no type and class behind it, is the root', () => {
  const name = encodeName(parseName('www.example.test.'));
  for (const behind of [0, 1, 2, 3]) expect(read(name, behind)).toBeUndefined();
  for (let octets = 0; octets < name.length; octets++)
    expect(read(name.subarray(0, octets), 0)).toBeUndefined();
  expect(read(Uint8Array.of(64, ...Array(64).fill(0x61), 0))).toBeUndefined();
  expect(read(Uint8Array.of(1, 0x61, 0xc0, 0x0c))).toBeUndefined();
  const long = Buffer.from(`${'\x01a'.repeat(126)}\x02aa\0`, 'latin1'); // 256 octets
  expect(read(long)).toBeUndefined();
  expect(read(Buffer.concat([long, Buffer.alloc(300)]))).toBeUndefined();
});

test('suffixes of two names are compared from a label on', () => {
  const one = read(encodeName(parseName('a.b.example.test.'))) as FoldedName;
  const other = read(encodeName(parseName('B.Example.Test.'))) as FoldedName;
  expect(one.endsAs(1, other, 0)).toBe(true);
  expect(one.endsAs(0, other, 0)).toBe(false);
  expect(one.endsAs(2, other, 0)).toBe(false);
});

test('octets are compared with the words of a block, whatever stands behind them', () => {
  const name = read(encodeName(parseName('abcdefg.x.'))) as FoldedName;
  for (let to = 0; to <= 8; to++) {
    for (let from = 0; from <= to; from++) {
      const block = Buffer.alloc(16, 0xee);
      Buffer.from(name.octets.subarray(from, to)).copy(block, 4);
      const words = new Int32Array(Uint8Array.from(block).buffer);
      expect(name.isAt(from, to, words, 1)).toBe(true);
      if (to > from) expect(name.isAt(from + 1, to + 1, words, 1)).toBe(false);
    }
  }
});
