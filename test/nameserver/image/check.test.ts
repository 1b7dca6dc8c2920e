import { describe, expect, it, test } from 'vitest';
import { WireError } from '../../../src/dns/errors.ts';
import { parseName, prependLabel } from '../../../src/dns/name.ts';
import { checkRdata } from '../../../src/dns/record/rdata.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { Answerer } from '../../../src/nameserver/answer/answer-query.ts';
import { QueryCounters } from '../../../src/nameserver/answer/query-counters.ts';
import { findImageFault } from '../../../src/nameserver/image/check/check-image.ts';
import { isNsec, isRrsig } from '../../../src/nameserver/image/check/plain-rdata.ts';
import { createImage, Image, ReaderSlot } from '../../../src/nameserver/image/image.ts';
import {
  HEADER,
  HEADER_BYTES,
  ROOT,
  segmentOf,
  TABLE,
  TABLE_SLOT_WORDS,
  UNIT_BYTES,
  wordOf,
} from '../../../src/nameserver/image/layout.ts';
import { blocksOf, unitsOfOrderBlock } from '../../../src/nameserver/image/order-index.ts';
import { ImageWriter } from '../../../src/nameserver/image/write-image.ts';
import { readRoot } from '../../../src/nameserver/image/zone-root.ts';
import { findRoot } from '../../../src/nameserver/image/zone-table.ts';
import { ourAnswer, queryFor, UNLIMITED } from '../../support/answer/queries.ts';
import { pick, type Random, randomFrom, randomZone } from '../../support/random/random-zones.ts';
import { scale } from '../../support/tests/scale.ts';
import { readZone } from '../../support/zone/read-zone.ts';
import { DENIAL_STYLES, signedZone } from '../../support/zone/sign-zone.ts';
import { recordsOf, zoneOf } from '../../support/zone/zone-text.ts';

const IMAGE_OCTETS = 256 << 10;
const MANY = parseName('many.example.');
const contentOf = (id: number) => ({ id, version: id + 1, mark: id });

/** An image whose zones were added, changed and removed, half of them signed, with free space everywhere. */
function madeImage(random: Random) {
  const image = new Image(createImage(IMAGE_OCTETS, Math.floor(random() * 2 ** 31)));
  const writer = new ImageWriter(image);
  const apexes = Array.from({ length: 12 }, (_, i) => `z${i}.example.`);
  const zones = apexes.map((apex) => randomZone(random, apex, Math.floor(random() * 12), apexes).zone);
  for (const [id, zone] of zones.entries()) writer.put(zone, contentOf(id + 1));
  for (const { apex } of zones) if (random() < 0.3) writer.remove(apex);
  for (const [id, zone] of zones.entries()) {
    const denial = DENIAL_STYLES[id];
    if (denial !== undefined) writer.put(signedZone(zone, denial), contentOf(id + 20));
    else if (random() < 0.7) writer.put(zone, contentOf(id + 20));
  }
  writer.put(zoneOf('many.example.', manyNames()), contentOf(500));
  writer.edit(MANY, contentOf(501), {
    records: [],
    gone: [{ owner: parseName('n7.many.example.'), type: 1 }],
  });
  return { image, writer };
}

function manyNames(): string {
  const names = Array.from({ length: 300 }, (_, i) => `n${i} A 192.0.2.${i % 256}`);
  return ['@ 60 SOA ns host 1 2 3 4 5', '@ NS ns', 'a DNAME elsewhere.example.', ...names].join('\n');
}

/** Returns a copy as if read from a file: another buffer with the same bytes. */
function copyOf(image: Image): Image {
  const buffer = new SharedArrayBuffer(image.buffer.byteLength);
  new Uint8Array(buffer).set(new Uint8Array(image.buffer, 0, image.endBytes));
  return new Image(buffer);
}

describe('an image', () => {
  it('from its writer has no fault after any changes, and is checked in steps', () => {
    for (let seed = 1; seed <= scale(6, 1); seed++) {
      const { image, writer } = madeImage(randomFrom(seed));
      let steps = 0;
      const fault = findImageFault(copyOf(image), writer.exportFree(), () => void steps++);
      expect(fault, `seed ${seed}`).toBeUndefined();
      expect(steps).toBeGreaterThanOrEqual(image.zones);
    }
  });

  it('without zones has no fault', () => {
    const image = new Image(createImage(IMAGE_OCTETS, 7));
    expect(findImageFault(image, new ImageWriter(image).exportFree())).toBeUndefined();
  });
});

const random = randomFrom(99);
const { image: MADE, writer: MAKER } = madeImage(random);

describe('a fault is found in', () => {
  const faultAfter = (change: (image: Image, free: Int32Array) => void) => {
    const image = copyOf(MADE);
    const free = MAKER.exportFree();
    change(image, free);
    return findImageFault(image, free);
  };

  it('a zone table without an empty slot, in which a search would not end', () => {
    const fault = faultAfter((image) => {
      const at = wordOf(image.header[HEADER.ZONE_TABLE] as number);
      for (let slot = 0; slot < 256; slot++) {
        const root = at + TABLE.SLOTS + slot * TABLE_SLOT_WORDS + 1;
        if (image.header[root] === 0) image.header[root] = -1;
      }
      image.header[at + TABLE.TAKEN] = 256;
    });
    expect(fault).toContain('zone table');
  });

  it('a free list that contains a block twice, or one that is in use', () => {
    expect(faultAfter((_, free) => free.set(free.subarray(0, 2), 2))).toBe('two blocks overlap');
    expect(faultAfter((image, free) => free.set([findRoot(image, MANY), 1]))).toBe('two blocks overlap');
  });

  it('a free list that is outside the image, or omits a block', () => {
    expect(faultAfter((image, free) => free.set([image.endBytes / 8 - 1, 2]))).toBe(
      'a block is outside the image',
    );
    expect(faultAfter((_, free) => free.set([-5, 2]))).toBe('a block is outside the image');
    expect(findImageFault(copyOf(MADE), MAKER.exportFree().slice(2))).toContain('neither used nor free');
  });

  it('an index that points back to itself', () => {
    const fault = faultAfter((image) => {
      const root = findRoot(image, MANY);
      const index = wordOf(root) + ROOT.APEX + 4;
      for (let i = 0; i < 4; i++) image.header[index + i] = root;
    });
    expect(fault).toBeDefined();
  });

  it('a number of names that would lead a reader outside the image', () => {
    const fault = faultAfter((image) => {
      image.header[wordOf(findRoot(image, MANY)) + ROOT.NAMES] = 2 ** 30;
    });
    expect(fault).toBeDefined();
  });
});

describe('a damaged image', () => {
  const free = MAKER.exportFree();
  /** With DO, for names of all zones and nonexistent names. */
  const queries = [...MAKER.entries()].flatMap(({ apex }) =>
    [...(readZone(MADE, apex)?.nodes.keys() ?? [])].slice(0, 3).flatMap((name) =>
      [name, prependLabel('nope', name) ?? name].map((asked) =>
        queryFor({
          name: asked,
          type: pick(random, [1, 255, TYPE.DS]),
          udpPayloadSize: 1232,
          dnssecOk: true,
        }),
      ),
    ),
  );

  /** Throws the errors that answers cause. */
  function answersOf(image: Image): string[] {
    const failures: unknown[] = [];
    const counters = new QueryCounters();
    const answerer = new Answerer(image, UNLIMITED, counters, (error) => failures.push(error));
    const node = {
      image,
      settings: UNLIMITED,
      answerer,
      reader: new ReaderSlot(image, 0),
      counters,
      failures,
    };
    return queries.map((query) => Buffer.from(ourAnswer(node, query, 'tcp')).toString('hex'));
  }

  it('is refused, or all of its content can be found, read, replaced and removed', () => {
    const wanted = scale(20_000, 30);
    let accepted = 0;
    for (let i = 0; i < wanted; i++) {
      const image = copyOf(MADE);
      const someFree = free.slice();
      for (let changes = 1 + Math.floor(random() * 3); changes > 0; changes--)
        damage(random, image, someFree);
      if (findImageFault(image, someFree) !== undefined) continue;
      accepted++;
      answersOf(image);
      const writer = new ImageWriter(image, someFree);
      for (const { apex, id } of [...writer.entries()]) {
        readZone(image, apex);
        writer.put(zoneOf('new.example.', '@ 60 SOA ns host 1 2 3 4 5\n@ 60 NS ns\n'), contentOf(id));
        writer.remove(apex);
      }
      expect(writer.zones).toBe(1);
    }
    expect(accepted).toBeGreaterThan(0);
    expect(accepted).toBeLessThan(wanted);
  }, 600_000);

  it('is refused if an order index is changed, or yields the same proofs', () => {
    const wanted = scale(20_000, 20);
    const before = answersOf(copyOf(MADE));
    const blocks = [...MAKER.entries()].flatMap(({ apex }) => {
      const { denials, idleDenials } = readRoot(MADE, findRoot(MADE, apex));
      return [...blocksOf(MADE, denials), ...blocksOf(MADE, idleDenials)];
    });
    let refused = 0;
    for (let i = 0; i < wanted; i++) {
      const image = copyOf(MADE);
      const block = pick(random, blocks);
      const words = image.words[segmentOf(block)] as Int32Array;
      const length = (unitsOfOrderBlock(image, block) * UNIT_BYTES) / 4;
      const at = wordOf(block) + Math.floor(random() * length);
      const flipped = (words[at] as number) ^ (1 << Math.floor(random() * 32));
      words[at] = random() < 0.5 ? flipped : randomWord(random);
      if (findImageFault(image, free) !== undefined) refused++;
      else expect(answersOf(image)).toEqual(before);
    }
    expect(refused).toBeGreaterThan(wanted / 3);
  }, 600_000);
});

/** Changes anything after the words that are checked when an image is opened, like a bug or bad memory would. */
function damage(random: Random, image: Image, free: Int32Array): void {
  const kind = random();
  const bytes = new Uint8Array(image.buffer, 0, image.endBytes);
  const anywhere = HEADER_BYTES + Math.floor(random() * (bytes.length - HEADER_BYTES));
  if (kind < 0.5) bytes[anywhere] = (bytes[anywhere] as number) ^ (1 << Math.floor(random() * 8));
  else if (kind < 0.8) image.header[anywhere >> 2] = randomWord(random);
  else if (kind < 0.9) free[Math.floor(random() * free.length)] = randomWord(random);
  else {
    const words = [HEADER.HASH_SEED, HEADER.ZONE_TABLE, HEADER.APEX_DEPTHS, HEADER.ZONES, HEADER.USED];
    image.header[pick(random, words)] = Math.floor(random() * 2 ** 20);
  }
}

/** Small numbers, which point to existing data, are as likely as large ones. */
function randomWord(random: Random): number {
  return Math.floor((random() - 0.5) * 2 ** (32 * random()));
}

const LONG = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}.`;
const TEXTS = [
  'RRSIG A 13 2 300 20300101000000 20200101000000 1 example. dGVzdA==',
  `RRSIG NSEC 8 2 300 20300101000000 20200101000000 1 ${LONG} dA==`,
  'RRSIG SOA 15 0 300 20300101000000 20200101000000 1 . dGVzdA==',
  'NSEC example. A RRSIG NSEC',
  'NSEC . A MX TYPE258 TYPE513 TYPE65535',
  `NSEC ${LONG} RRSIG NSEC`,
];

function decodes(type: number, rdata: Uint8Array): boolean {
  try {
    checkRdata(type, rdata);
    return true;
  } catch (error) {
    if (error instanceof WireError) return false;
    throw error;
  }
}

test.each(TEXTS)('%s, complete, truncated, extended, and with other octets', (text) => {
  const [record] = recordsOf(`x 60 ${text}`, 'test.');
  const { type, rdata } = record as NonNullable<typeof record>;
  const isSound = type === TYPE.NSEC ? isNsec : isRrsig;
  const random = randomFrom(type + rdata.length);
  const around = (octets: Uint8Array) => {
    // Placed between octets that would make it valid if they were read.
    const place = Buffer.concat([Buffer.from([1, 97, 0]), octets, Buffer.from([1, 97, 0, 0, 1, 64, 9, 9])]);
    if (isSound(place, 3, 3 + octets.length) !== decodes(type, octets))
      expect.fail(Buffer.from(octets).toString('hex'));
  };
  around(rdata);
  expect(decodes(type, rdata)).toBe(true);
  let refused = 0;
  for (let length = 0; length < rdata.length; length++) around(rdata.subarray(0, length));
  for (let i = 0; i < scale(5000, 200); i++) {
    const changed = Uint8Array.from([...rdata, ...(i % 3 === 0 ? [Math.floor(random() * 4), 1, 5] : [])]);
    for (let n = 0; n <= i % 3; n++) {
      const interesting = [0, 1, 32, 33, 63, 64, 0xc0, Math.floor(random() * 256)];
      changed[Math.floor(random() * changed.length)] = interesting[Math.floor(random() * 8)] as number;
    }
    around(changed);
    if (!decodes(type, changed)) refused++;
  }
  expect(refused).toBeGreaterThan(scale(100, 4));
});

it('a name with a label of 64 octets is refused, as in decoding', () => {
  const name = [64, ...Buffer.alloc(64, 'a'), 0];
  const rdata = Uint8Array.from([...name, 0, 1, 0x40]);
  expect([isNsec(rdata, 0, rdata.length), decodes(TYPE.NSEC, rdata)]).toEqual([false, false]);
});
