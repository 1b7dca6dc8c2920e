import { createHash } from 'node:crypto';
import { describe, expect, it, test } from 'vitest';
import {
  encodeName,
  foldCase,
  labelsOf,
  type Name,
  parseName,
  printName,
  wildcardBelow,
} from '../../../src/dns/name.ts';
import { TYPE, typeMnemonic } from '../../../src/dns/type-codes.ts';
import { AskedMarks } from '../../../src/nameserver/image/find/asked-marks.ts';
import { ImageFinder } from '../../../src/nameserver/image/find/find-in-image.ts';
import { FoldedName } from '../../../src/nameserver/image/find/folded-name.ts';
import { FOUND } from '../../../src/nameserver/image/find/found-kinds.ts';
import { Sha1 } from '../../../src/nameserver/image/find/sha1.ts';
import { hashName } from '../../../src/nameserver/image/hash-name.ts';
import type { Image } from '../../../src/nameserver/image/image.ts';
import { ownerOfNode } from '../../../src/nameserver/image/read-node.ts';
import { ImageWriter } from '../../../src/nameserver/image/write-image.ts';
import type { Zone } from '../../../src/zone/zone.ts';
import { randomFrom, randomQuestion, randomZone } from '../../support/random/random-zones.ts';
import { findAnswer } from '../../support/reference/find-answer.ts';
import { scale } from '../../support/tests/scale.ts';
import { DENIAL_STYLES, signedZone } from '../../support/zone/sign-zone.ts';
import { expectSame, smallImage } from '../../support/zone/zone-image.ts';
import { zoneOf, zonesOf } from '../../support/zone/zone-text.ts';

const CONTENT = { id: 1, version: 1, mark: 1 };

function imageOf(zone: Zone): Image {
  const image = smallImage();
  new ImageWriter(image).put(zone, CONTENT);
  return image;
}

function find(finder: ImageFinder, name: Name, type: number): void {
  finder.question.octets.set(Buffer.from(name, 'latin1'));
  finder.question.adopt(name.length);
  finder.find(type, true);
}

function provingOwners(image: Image, { proofs, isSigned }: ImageFinder, apex: Name): string[] {
  const nodes = isSigned ? [...proofs.nodes.subarray(0, proofs.count)] : [];
  return nodes.map((node) => printName(ownerOfNode(image, node, apex)));
}

test('a private zone refuses the names below it, and changes no answer about the zones above and below', () => {
  const head = '@ 60 SOA ns host 1 2 3 4 5\n@ 60 NS ns\n';
  const hidden = { ...zoneOf('private.example.', `${head}shop 60 NS ns\n`), isPrivate: true };
  const zones = [
    zoneOf('example.', `${head}alias 60 CNAME www.private\n* 60 TXT x\n`),
    hidden,
    zoneOf('shop.private.example.', head),
  ];
  const image = smallImage();
  const writer = new ImageWriter(image);
  for (const [id, zone] of zones.entries()) writer.put(zone, { ...CONTENT, id });
  const finder = new ImageFinder(image);
  const kindOf = (name: string, type: number) => {
    find(finder, parseName(name), type);
    return [finder.kind, finder.answers];
  };
  expect(kindOf('www.private.example.', TYPE.A)).toEqual([FOUND.PRIVATE, 0]);
  expect(kindOf('private.example.', TYPE.DS)).toEqual([FOUND.PRIVATE, 0]);
  expect(kindOf('alias.example.', TYPE.A)).toEqual([FOUND.ANSWER, 1]);
  expect(kindOf('public.example.', TYPE.A)).toEqual([FOUND.NODATA, 0]);
  expect(kindOf('shop.private.example.', TYPE.DS)).toEqual([FOUND.NODATA, 0]);
});

describe('an answer with signatures', () => {
  it.each(DENIAL_STYLES)('has the proofs of the reference in a zone with %j', (denial) => {
    const random = randomFrom(8);
    let proofs = 0;
    for (let round = 0; round < scale(100, 2); round++) {
      const { zone } = randomZone(random, round % 5 === 0 ? '.' : 'zone.example.', 3 + round * 4, []);
      const signed = signedZone(zone, denial);
      const image = imageOf(signed);
      const finder = new ImageFinder(image);
      const names = [...signed.nodes.keys()];
      for (let i = 0; i < 200; i++) {
        const { name, type } = randomQuestion(random, signed, names);
        const answer = findAnswer(zonesOf(signed), foldCase(name), type, { dnssecOk: true });
        const wanted = answer.authority.filter((set) => set.type === TYPE.NSEC || set.type === TYPE.NSEC3);
        find(finder, name, type);
        const owners = wanted.map(({ owner }) => printName(owner));
        const title = `${printName(name)} ${typeMnemonic(type)}`;
        expectSame([title, ...provingOwners(image, finder, zone.apex)], [title, ...owners]);
        proofs += owners.length;
      }
    }
    expect(proofs).toBeGreaterThan(200);
  });

  it.each(
    DENIAL_STYLES,
  )('equals the reference for NSEC and RRSIG at an alias in a zone with %j', (denial) => {
    const records = 'alias 60 CNAME www\n*.w 60 CNAME www\nwww 60 A 192.0.2.1\nout 60 CNAME example.net.\n';
    const zone = zoneOf('example.', `@ 60 SOA ns host 1 2 3 4 5\n@ 60 NS ns\n${records}`);
    const signed = signedZone(zone, denial);
    const image = imageOf(signed);
    const finder = new ImageFinder(image);
    for (const text of ['alias.example.', 'x.w.example.', 'out.example.']) {
      for (const type of [TYPE.NSEC, TYPE.NSEC3, TYPE.RRSIG]) {
        const name = parseName(text);
        const { kind, answer } = findAnswer(zonesOf(signed), name, type, { dnssecOk: true });
        find(finder, name, type);
        const title = `${text} ${typeMnemonic(type)}`;
        const kinds = { [FOUND.ANSWER]: 'answer', [FOUND.NODATA]: 'nodata' } as Record<number, string>;
        const types = finder.answer.slice(0, finder.answers).map((set) => set.type);
        expect([title, kinds[finder.kind], ...types]).toEqual([
          title,
          kind,
          ...answer.map((set) => set.type),
        ]);
      }
    }
  });

  it('caches hashes of names, but not after the salt has changed', () => {
    const zone = zoneOf('example.', '@ 60 SOA ns host 1 2 3 4 5\n@ 60 NS ns\nwww 60 A 192.0.2.1\n');
    const image = smallImage();
    const writer = new ImageWriter(image);
    const finder = new ImageFinder(image);
    for (const [version, denial] of [...DENIAL_STYLES.slice(1), ...DENIAL_STYLES.slice(1)].entries()) {
      const signed = signedZone(zone, denial);
      writer.put(signed, { ...CONTENT, version });
      for (const text of ['www.example.', 'nx.www.example.', 'nx.www.example.']) {
        const name = parseName(text);
        find(finder, name, TYPE.TXT);
        const { authority } = findAnswer(zonesOf(signed), name, TYPE.TXT, { dnssecOk: true });
        const owners = authority.slice(1).map(({ owner }) => printName(owner));
        expect(provingOwners(image, finder, zone.apex)).toEqual(owners);
      }
    }
  });
});

const MARKS = 2 ** 15;
const anyHash = (random: () => number) => Math.floor((random() - 0.5) * 2 ** 32) | 1;

describe('marks of zones with queries', () => {
  it('are taken once, for any number of queries and threads', () => {
    const marks = new AskedMarks();
    const thread = new AskedMarks(marks.buffer);
    for (const hash of [7, -7, 7, 2 ** 31 - 1]) (hash < 0 ? thread : marks).note(hash);
    expect(thread.take().sort((a, b) => a - b)).toEqual([-7, 7, 2 ** 31 - 1]);
    expect(marks.take()).toEqual([]);
    marks.note(7);
    expect(marks.take()).toEqual([7]);
  });

  it('never use more memory, for any queries', () => {
    const marks = new AskedMarks();
    const random = randomFrom(1);
    for (let i = 0; i < 4 * MARKS; i++) marks.note(anyHash(random));
    const taken = marks.take();
    expect(taken.length).toBeLessThanOrEqual(MARKS);
    expect(taken.length).toBeGreaterThan(0.9 * MARKS);
    expect(marks.buffer.byteLength).toBe(4 * MARKS);
  });

  it('three thousand names of an attacker hide hardly any other', () => {
    for (let seed = 1; seed <= 10; seed++) {
      const random = randomFrom(seed);
      const marks = new AskedMarks();
      for (let i = 0; i < 3000; i++) marks.note(anyHash(random));
      const others = [1, 2, 3].map(() => anyHash(random));
      for (const other of others) marks.note(other);
      expect(marks.take()).toEqual(expect.arrayContaining(others));
    }
  });
});

const HEADER = smallImage().header;

/** Reads a name at some position in a message, with `behind` octets after it. */
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

  test('is folded, except for octets above 127 (RFC 4343 §3)', () => {
    expect(textOf(name)).toBe(folded);
    expect(name.hadUpperCase).toBe(folded !== wire);
    expect(name.labels).toBe(labelsOf(wire).length);
  });

  test('has the hash of each suffix, and of the wildcard below it, that the image writer computes', () => {
    for (let label = 0; label <= name.labels; label++) {
      const suffix = textOf(name, label);
      expect(name.hashes[label]).toBe(hashName(HEADER, suffix));
      const wildcard = wildcardBelow(suffix);
      if (wildcard !== undefined) expect(name.wildcardHash(label)).toBe(hashName(HEADER, wildcard));
    }
  });

  test('is the same if its octets are adopted', () => {
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

test('invalid names, and those without type and class after them, become the root', () => {
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

test('octets are compared with the words of a block, regardless of what follows them', () => {
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

function hexOf(sha1: Sha1): string {
  return [...sha1.digest].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
}

it('has the correct digest for messages of every length', () => {
  const random = randomFrom(1);
  const sha1 = new Sha1();
  for (let octets = 0; octets <= 510; octets++) {
    const message = Uint8Array.from({ length: octets }, () => Math.floor(random() * 256));
    sha1.message.set(message);
    sha1.hash(octets);
    expect(hexOf(sha1)).toBe(createHash('sha1').update(message).digest('hex'));
  }
});
