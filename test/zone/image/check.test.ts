import { describe, expect, it, test } from 'vitest';
import { WireError } from '../../../src/dns/errors.ts';
import { parseName } from '../../../src/dns/name.ts';
import { checkRdata } from '../../../src/dns/record/rdata.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { findImageFault } from '../../../src/zone/image/check/check-image.ts';
import { isNsec, isRrsig } from '../../../src/zone/image/check/plain-rdata.ts';
import { ImageFinder } from '../../../src/zone/image/find/find-in-image.ts';
import { createImage, Image } from '../../../src/zone/image/image.ts';
import { HEADER, ROOT, TABLE, TABLE_SLOT_WORDS, wordOf } from '../../../src/zone/image/layout.ts';
import { ImageWriter } from '../../../src/zone/image/write-image.ts';
import { findRoot } from '../../../src/zone/image/zone-table.ts';
import { type Random, randomFrom, randomZone } from '../../support/random/random-zones.ts';
import { scale } from '../../support/tests/scale.ts';
import { damageImage } from '../../support/zone/damaged-image.ts';
import { readZone } from '../../support/zone/read-zone.ts';
import { recordsOf, zoneOf } from '../../support/zone/zone-text.ts';

const IMAGE_OCTETS = 256 << 10;
const contentOf = (id: number) => ({ id, version: id + 1, mark: id });

interface Made {
  readonly image: Image;
  readonly writer: ImageWriter;
}

/** Zones that came, changed and went, so that there is free space all over. */
function madeImage(random: Random, zones = 20): Made {
  const image = new Image(createImage(IMAGE_OCTETS, Math.floor(random() * 2 ** 31)));
  const writer = new ImageWriter(image);
  const apexes = Array.from({ length: zones }, (_, i) => `z${i}.example.`);
  for (let round = 0; round < 3; round++) {
    for (const [id, apex] of apexes.entries()) {
      if (round > 0 && random() < 0.3) writer.remove(parseName(apex));
      else writer.put(randomZone(random, apex, Math.floor(random() * 12), apexes).zone, contentOf(id + 1));
    }
  }
  writer.put(zoneOf('many.example.', manyNames()), contentOf(500));
  writer.edit(parseName('many.example.'), contentOf(501), {
    records: [],
    gone: [{ owner: parseName('n7.many.example.'), type: 1 }],
  });
  return { image, writer };
}

function manyNames(): string {
  const names = Array.from({ length: 300 }, (_, i) => `n${i} A 192.0.2.${i % 256}`);
  return ['@ 60 SOA ns host 1 2 3 4 5', '@ NS ns', 'a DNAME elsewhere.example.', ...names].join('\n');
}

/** As it comes from a file: another buffer with the same bytes. */
function copyOf({ image }: Made): Image {
  const buffer = new SharedArrayBuffer(image.buffer.byteLength);
  new Uint8Array(buffer).set(new Uint8Array(image.buffer, 0, image.endBytes));
  return new Image(buffer);
}

describe('an image', () => {
  it('that its writer made has no fault after any changes', () => {
    for (let seed = 1; seed <= scale(6, 3); seed++) {
      const made = madeImage(randomFrom(seed));
      expect(findImageFault(copyOf(made), made.writer.exportFree()), `seed ${seed}`).toBeUndefined();
    }
  });

  it('without zones has no fault', () => {
    const image = new Image(createImage(IMAGE_OCTETS, 7));
    expect(findImageFault(image, new ImageWriter(image).exportFree())).toBeUndefined();
  });

  it('is checked in steps, whose number grows with its content', () => {
    const made = madeImage(randomFrom(1), 40);
    let steps = 0;
    findImageFault(copyOf(made), made.writer.exportFree(), () => void steps++);
    expect(steps).toBeGreaterThanOrEqual(made.image.zones);
  });
});

describe('a fault is found in', () => {
  const made = madeImage(randomFrom(5));
  const faultAfter = (change: (image: Image, free: Int32Array) => void) => {
    const image = copyOf(made);
    const free = made.writer.exportFree();
    change(image, free);
    return findImageFault(image, free);
  };

  it('a zone table without an empty slot, in which a search would never end', () => {
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

  it('a free list that names a block twice, or one that is in use', () => {
    expect(faultAfter((_, free) => free.set(free.subarray(0, 2), 2))).toBe('two blocks overlap');
    expect(faultAfter((image, free) => free.set([findRoot(image, parseName('many.example.')), 1]))).toBe(
      'two blocks overlap',
    );
  });

  it('a free list that leads outside, or misses a block', () => {
    expect(faultAfter((image, free) => free.set([image.endBytes / 8 - 1, 2]))).toBe('a block lies outside');
    expect(faultAfter((_, free) => free.set([-5, 2]))).toBe('a block lies outside');
    expect(findImageFault(copyOf(made), made.writer.exportFree().slice(2))).toContain(
      'neither used nor free',
    );
  });

  it('an index that leads back to itself', () => {
    const fault = faultAfter((image) => {
      const root = findRoot(image, parseName('many.example.'));
      const index = wordOf(root) + ROOT.APEX + 4;
      for (let i = 0; i < 4; i++) image.header[index + i] = root;
    });
    expect(fault).toBeDefined();
  });

  it('a count of names that would take a reader out of the image', () => {
    const fault = faultAfter((image) => {
      image.header[wordOf(findRoot(image, parseName('many.example.'))) + ROOT.NAMES] = 2 ** 30;
    });
    expect(fault).toBeDefined();
  });
});

describe('an image with any bytes changed', () => {
  it('is refused, or everything in it can be found, read, replaced and removed', () => {
    const wanted = scale(20_000, 150);
    const random = randomFrom(99);
    const made = madeImage(random, 6);
    const free = made.writer.exportFree();
    let accepted = 0;
    for (let i = 0; i < wanted; i++) {
      const image = copyOf(made);
      const someFree = free.slice();
      for (let changes = 1 + Math.floor(random() * 3); changes > 0; changes--)
        damageImage(random, image, someFree);
      if (findImageFault(image, someFree) !== undefined) continue;
      accepted++;
      useAll(image, someFree);
    }
    expect(accepted).toBeGreaterThan(0);
    expect(accepted).toBeLessThan(wanted);
  }, 600_000);

  function useAll(image: Image, free: Int32Array): void {
    const writer = new ImageWriter(image, free);
    const finder = new ImageFinder(image);
    for (const { apex, id } of [...writer.entries()]) {
      const zone = readZone(image, apex);
      for (const name of zone?.nodes.keys() ?? []) {
        finder.question.octets.set(Buffer.from(name, 'latin1'));
        finder.question.adopt(name.length);
        finder.find(255, true);
        finder.find(5, false);
      }
      writer.put(zoneOf('new.example.', '@ 60 SOA ns host 1 2 3 4 5\n@ 60 NS ns\n'), contentOf(id));
      writer.remove(apex);
    }
    expect(writer.zones).toBe(1);
  }
});

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

test.each(TEXTS)('%s, whole, cut short, lengthened, and with other octets', (text) => {
  const [record] = recordsOf(`x 60 ${text}`, 'test.');
  const { type, rdata } = record as NonNullable<typeof record>;
  const isSound = type === TYPE.NSEC ? isNsec : isRrsig;
  const random = randomFrom(type + rdata.length);
  const around = (octets: Uint8Array) => {
    // Between octets that would make it whole if they were read.
    const place = Buffer.concat([Buffer.from([1, 97, 0]), octets, Buffer.from([1, 97, 0, 0, 1, 64, 9, 9])]);
    if (isSound(place, 3, 3 + octets.length) !== decodes(type, octets))
      expect.fail(Buffer.from(octets).toString('hex'));
  };
  around(rdata);
  expect(decodes(type, rdata)).toBe(true);
  let refused = 0;
  for (let length = 0; length < rdata.length; length++) around(rdata.subarray(0, length));
  for (let i = 0; i < scale(5000, 800); i++) {
    const changed = Uint8Array.from([...rdata, ...(i % 3 === 0 ? [Math.floor(random() * 4), 1, 5] : [])]);
    for (let n = 0; n <= i % 3; n++) {
      const interesting = [0, 1, 32, 33, 63, 64, 0xc0, Math.floor(random() * 256)];
      changed[Math.floor(random() * changed.length)] = interesting[Math.floor(random() * 8)] as number;
    }
    around(changed);
    if (!decodes(type, changed)) refused++;
  }
  expect(refused).toBeGreaterThan(scale(100, 15));
});

it('a name with a label of 64 octets is refused, as decoding it is', () => {
  const name = [64, ...Buffer.alloc(64, 'a'), 0];
  const rdata = Uint8Array.from([...name, 0, 1, 0x40]);
  expect([isNsec(rdata, 0, rdata.length), decodes(TYPE.NSEC, rdata)]).toEqual([false, false]);
});
