import { describe, expect, it } from 'vitest';
import { labelsOf, type Name, parseName } from '../../src/dns/name.ts';
import { hashFactors, hashName, mixChunk } from '../../src/nameserver/image/hash-name.ts';
import { clearSlot, createImage, Image, ReaderSlot } from '../../src/nameserver/image/image.ts';
import {
  HEADER,
  HEADER_BYTES,
  MAX_IMAGE_BYTES,
  READER_SLOT_WORDS,
  READER_SLOTS_AT,
  SEGMENT_UNITS,
} from '../../src/nameserver/image/layout.ts';
import { classFor, classWithin, SIZE_CLASSES, unitsOfClass } from '../../src/nameserver/image/size-class.ts';
import { ImageFullError, Space } from '../../src/nameserver/image/space.ts';
import { ImageWriter } from '../../src/nameserver/image/write-image.ts';
import { recordsOfZone } from '../../src/zone/records-of-zone.ts';
import type { RecordSet, Zone } from '../../src/zone/zone.ts';
import { pick, type Random, randomFrom, randomZone } from '../support/random/random-zones.ts';
import { wordsOf } from '../support/tests/rows-of.ts';
import { scale } from '../support/tests/scale.ts';
import { readZone } from '../support/zone/read-zone.ts';
import { zoneOfRecords } from '../support/zone/sign-zone.ts';
import { blocksIn, expectSame, smallImage, zoneInImage } from '../support/zone/zone-image.ts';
import { zoneOf } from '../support/zone/zone-text.ts';

const OCTETS = 64 * 1024;

function expectWhole(image: Image, writer: ImageWriter): void {
  const blocks = blocksIn(image, writer.exportFree());
  const ends = [0, ...blocks.map(([ref, units]) => ref + units)];
  expect(blocks.map(([ref]) => ref)).toEqual(ends.slice(0, -1));
  expect((ends.at(-1) as number) * 8).toBe(image.endBytes);
}

/** Returns a record set that the zone does not require, if there is one. */
function dispensable(random: Random, zone: Zone): RecordSet | undefined {
  const names = [...zone.nodes.values()].filter(({ name, sets }) => name !== zone.apex && sets.size > 0);
  return names.length === 0 ? undefined : pick(random, [...pick(random, names).sets.values()]);
}

function withoutSet(zone: Zone, gone: RecordSet): Zone {
  const rest = [...recordsOfZone(zone)].filter(
    ({ owner, type }) => owner !== gone.owner || type !== gone.type,
  );
  return zoneOfRecords(zone.apex, rest);
}

describe('an image', () => {
  it('has the expected content after any changes, and loses no space', () => {
    for (let seed = 1; seed <= scale(100, 1); seed++) {
      const random = randomFrom(seed);
      const image = smallImage(OCTETS);
      const writer = new ImageWriter(image);
      const readers = [new ReaderSlot(image, 0), new ReaderSlot(image, 77)];
      const model = new Map<Name, Zone>();
      const zones = Array.from({ length: scale(180, 60) }, (_, i) => {
        return randomZone(random, `zone${i % 40}.example.`, Math.floor(random() * 25), []).zone;
      });
      let full = 0;
      for (let step = 1; step <= scale(600, 100); step++) {
        const content = { id: step, version: step, mark: step };
        const roll = random();
        try {
          if (roll < 0.55) {
            const zone = pick(random, zones);
            writer.put(zone, content);
            model.set(zone.apex, zone);
          } else {
            const zone = pick(random, [...model.values()]);
            if (zone === undefined) continue;
            const set = dispensable(random, zone);
            if (roll < 0.65 || set === undefined) {
              writer.remove(zone.apex);
              model.delete(zone.apex);
            } else {
              const { owner, type, ttl, rdata } = set;
              const gone = roll < 0.8 ? [set] : [];
              const records = gone.length > 0 ? [] : rdata.map((one) => ({ owner, type, ttl, rdata: one }));
              expect(writer.edit(zone.apex, content, { records, gone })).toEqual({ kind: 'edited' });
              if (gone.length > 0) model.set(zone.apex, withoutSet(zone, set));
            }
          }
          expect(image.isFull).toBe(false);
        } catch (error) {
          if (!(error instanceof ImageFullError)) throw error;
          expect(image.isFull).toBe(true);
          full++;
        }
        if (random() < 0.1) pick(random, readers).enter();
        if (random() < 0.3) pick(random, readers).leave();
        if (random() < 0.02) writer.pauseReuse();
        if (random() < 0.2) writer.resumeReuse();
        if (step % 50 === 0) expectServed(image, writer, model);
      }
      expect(full).toBeGreaterThan(10);
      for (const reader of readers) reader.leave();
      writer.resumeReuse();
      for (const apex of model.keys()) writer.remove(apex);
      expect(image).toMatchObject({ zones: 0, records: 0, bytesUsed: smallImage().bytesUsed });
    }
  });

  function expectServed(image: Image, writer: ImageWriter, model: ReadonlyMap<Name, Zone>): void {
    expectWhole(image, writer);
    expect(image.zones).toBe(model.size);
    let records = 0;
    for (const [apex, zone] of model) {
      expectSame(readZone(image, apex), zone);
      records += zone.records;
    }
    expect(image.records).toBe(records);
    expect([...writer.entries()].map(({ apex }) => apex).sort()).toEqual([...model.keys()].sort());
  }
});

function headerOf(seed: number): Int32Array {
  return new Image(createImage(2 ** 16, seed)).header;
}

/** The definition in layout.ts. */
function hashByDefinition(header: Int32Array, name: Name): number {
  let hash = header[HEADER.HASH_SEED] as number;
  for (const label of labelsOf(name).reverse()) {
    const octets = Buffer.alloc(64);
    octets[0] = label.length;
    octets.write(label, 1, 'latin1');
    for (let i = 0; i < label.length + 1; i += 4) {
      const factors = [
        header[HEADER.HASH_FACTOR_A] as number,
        header[HEADER.HASH_FACTOR_B] as number,
      ] as const;
      hash = mixChunk(hash, octets.readInt32LE(i), ...factors);
    }
  }
  return hash;
}

describe('the hash of a name', () => {
  it('mixes the labels from the root on, in chunks of four octets', () => {
    const header = headerOf(1);
    const names = [
      ...wordsOf('. a. ab. abc. abcd. a.b. \\000. \\255\\255\\255\\255.'),
      `${'z'.repeat(63)}.x.`,
    ];
    for (const text of names) {
      const name = parseName(text);
      expect(hashName(header, name)).toBe(hashByDefinition(header, name));
    }
    expect(new Set(names.map((text) => hashName(header, parseName(text)))).size).toBe(names.length);
  });

  it('differs for each seed', () => {
    const name = parseName('www.example.');
    const hashes = Array.from({ length: 100 }, (_, seed) => hashName(headerOf(seed), name));
    expect(new Set(hashes).size).toBe(100);
    expect(hashFactors(7).a & hashFactors(7).b & 1).toBe(1);
  });

  it('differs for names whose chunks differ in their top bits', () => {
    // With one multiplication per chunk, a difference in a top bit stays there, and the next chunk can cancel it.
    const header = headerOf(3);
    const first = parseName('ab\\000aaa\\000a.');
    for (const second of ['ab\\128aaa\\128a.', 'ab\\128aa\\001\\128a.', 'ab\\128aaa\\000a.']) {
      expect(hashName(header, parseName(second))).not.toBe(hashName(header, first));
    }
  });

  it('distributes names that follow a pattern over the slots of a table', () => {
    const header = headerOf(0);
    const slots = new Int32Array(2 ** 16);
    for (let i = 0; i < slots.length; i++) {
      const slot = hashName(header, parseName(`customer-${i}.example.`)) >>> 16;
      slots[slot] = (slots[slot] as number) + 1;
    }
    expect(Math.max(...slots)).toBeLessThan(12);
    const empty = slots.filter((count) => count === 0).length / slots.length;
    expect(empty).toBeGreaterThan(0.35); // 1/e, as for random numbers
    expect(empty).toBeLessThan(0.39);
  });
});

const ZONE = zoneOf('example.', '@ 60 SOA a b 1 2 3 4 5\n@ 60 NS a\nwww 60 A 192.0.2.1');
const SMALLEST_BYTES = 64 * 1024;
const CONTENT = { id: 1, version: 2, mark: 3 };

describe('the memory of an image', () => {
  it('has the requested size, within limits', () => {
    expect(new Image(createImage(SMALLEST_BYTES + 7, 1)).capacityBytes).toBe(SMALLEST_BYTES);
    for (const bytes of [SMALLEST_BYTES - 1, MAX_IMAGE_BYTES + 1, Number.NaN]) {
      expect(() => createImage(bytes, 1)).toThrow(RangeError);
    }
  });

  it('is initially empty', () => {
    const image = smallImage();
    expect(image).toMatchObject({ zones: 0, records: 0, isFull: false });
    expect(image.bytesUsed).toBe(image.endBytes);
    expect(readZone(image, ZONE.apex)).toBeUndefined();
  });

  it('is refused if it has another format', () => {
    expect(() => new Image(new SharedArrayBuffer(SMALLEST_BYTES))).toThrow(/not a zone image/);
    const buffer = createImage(SMALLEST_BYTES, 1);
    new Int32Array(buffer)[HEADER.FORMAT] = 99;
    expect(() => new Image(buffer)).toThrow(/not a zone image/);
  });

  it('can be restored in another buffer from its header, blocks and free space', () => {
    const image = smallImage();
    const writer = new ImageWriter(image);
    for (const version of [1, 2, 3]) writer.put(ZONE, { ...CONTENT, version });
    const larger = new Image(createImage(8 * 2 ** 20, 99));
    const blocks = new Uint8Array(image.buffer, HEADER_BYTES, image.endBytes - HEADER_BYTES);
    new Uint8Array(larger.buffer).set(blocks, HEADER_BYTES);
    larger.importHeader(image.exportHeader());
    const second = new ImageWriter(larger, writer.exportFree());
    expect(zoneInImage(larger, ZONE.apex)).toEqual(zoneInImage(image, ZONE.apex));
    expect(larger.capacityBytes).toBe(8 * 2 ** 20);
    expect(larger.bytesUsed).toBe(image.bytesUsed);
    second.put(zoneOf('a.example.', '@ 60 SOA a b 1 2 3 4 5\n@ 60 NS a'), CONTENT);
    second.remove(ZONE.apex);
    expect(readZone(larger, ZONE.apex)).toBeUndefined();
    expect(readZone(larger, parseName('a.example.'))?.records).toBe(2);
  });

  it('refuses a header whose blocks do not fit', () => {
    const image = smallImage();
    const header = image.exportHeader();
    header[HEADER.END] = (header[HEADER.CAPACITY] as number) + 1;
    expect(() => image.importHeader(header)).toThrow(/but only \d+ fit/);
    expect(() => image.importHeader(header.subarray(1))).toThrow(RangeError);
    expect(() => image.importHeader(header.fill(0))).toThrow(/not a zone image/);
  });
});

describe('a reader slot', () => {
  const wordOf = (image: Image, slot: number) => image.header[READER_SLOTS_AT + slot * READER_SLOT_WORDS];

  it('contains the epoch in which its reader entered, until it leaves', () => {
    const image = smallImage();
    image.header[HEADER.EPOCH] = 42;
    const slot = new ReaderSlot(image, 127);
    slot.enter();
    expect(wordOf(image, 127)).toBe(42);
    slot.leave();
    expect(wordOf(image, 127)).toBe(0);
  });

  it('can be cleared for a reader that ended', () => {
    const image = smallImage();
    new ReaderSlot(image, 5).enter();
    clearSlot(image, 5);
    expect(wordOf(image, 5)).toBe(0);
  });

  it('is one of 128', () => {
    const image = smallImage();
    for (const slot of [-1, 128, Number.NaN]) expect(() => new ReaderSlot(image, slot)).toThrow(RangeError);
  });
});

const SIZES = [
  ...Array.from({ length: 5000 }, (_, i) => i + 1),
  ...Array.from({ length: 27 }, (_, i) => [2 ** i - 1, 2 ** i, 2 ** i + 1]).flat(),
  SEGMENT_UNITS,
].filter((units) => units >= 1 && units <= SEGMENT_UNITS);

describe('size classes', () => {
  it('increase one by one', () => {
    for (let sizeClass = 2; sizeClass < SIZE_CLASSES; sizeClass++) {
      expect(unitsOfClass(sizeClass)).toBeGreaterThan(unitsOfClass(sizeClass - 1));
    }
    expect(unitsOfClass(SIZE_CLASSES - 1)).toBe(SEGMENT_UNITS);
  });

  it('are exact up to 1 KiB, and waste at most a sixteenth of larger sizes', () => {
    const wrong = SIZES.filter((units) => {
      const held = unitsOfClass(classFor(units));
      const most = units <= 128 ? units : units + units / 16;
      const isSmallest = unitsOfClass(classFor(units) - 1) < units;
      return !(held >= units && held <= most && isSmallest);
    });
    expect(wrong).toEqual([]);
  });

  it('include a largest class that fits within every size', () => {
    const wrong = SIZES.filter((units) => {
      const within = classWithin(units);
      const isLargest = within + 1 >= SIZE_CLASSES || unitsOfClass(within + 1) > units;
      return !(unitsOfClass(within) <= units && isLargest);
    });
    expect(wrong).toEqual([]);
  });
});

function allocate(space: Space, units: number): number {
  const ref = space.allocate(units);
  space.keep();
  return ref;
}

function fill(space: Space, units: number): number[] {
  const refs: number[] = [];
  try {
    for (;;) refs.push(allocate(space, units));
  } catch (error) {
    expect(error).toBeInstanceOf(ImageFullError);
  }
  return refs;
}

describe('space', () => {
  it('is allocated once, to the last unit, and counted', () => {
    const bytes = 64 * 1024;
    const image = smallImage(bytes);
    const before = image.bytesUsed;
    const refs = fill(new Space(image), 1);
    expect(new Set(refs).size).toBe(refs.length);
    expect(refs.length).toBe((bytes - before) / 8);
    expect(image.bytesUsed).toBe(bytes);
    expect(image.endBytes).toBe(bytes);
  });

  it('is reused after it is retired and has no reader', () => {
    const image = smallImage();
    const space = new Space(image);
    const ref = allocate(space, 5);
    const used = image.bytesUsed;
    space.retire(ref, 5);
    expect(image.bytesUsed).toBe(used);
    space.reclaim();
    expect(image.bytesUsed).toBe(used - 40);
    expect(allocate(space, 5)).toBe(ref);
  });

  it.each([true, false])('yields large blocks next to small ones after tidying: %s', (isTidied) => {
    const space = new Space(smallImage());
    const random = randomFrom(7);
    const refs = fill(space, 5);
    const [last] = refs.splice(-1); // stays in use, so that freed space does not join the untouched rest
    expect(last).toBeDefined();
    for (const ref of refs.sort(() => random() - 0.5)) space.retire(ref, 5);
    space.reclaim();
    if (isTidied) space.tidy(5 * refs.length);
    for (let i = 0; i < refs.length / 2; i++) allocate(space, 5);
    const large = () => allocate(space, refs.length);
    if (isTidied) expect(large()).toBeGreaterThan(0);
    else expect(large).toThrow(ImageFullError);
  });

  it('is not reused while a reader that entered earlier uses it', () => {
    const image = smallImage();
    const space = new Space(image);
    const early = new ReaderSlot(image, 3);
    const late = new ReaderSlot(image, 127);
    const ref = allocate(space, 5);
    early.enter();
    space.retire(ref, 5);
    space.reclaim();
    late.enter();
    space.reclaim();
    expect(allocate(space, 5)).not.toBe(ref);
    early.leave();
    space.reclaim();
    expect(allocate(space, 5)).toBe(ref);
    late.leave();
  });

  it('waits for readers when the epoch wraps', () => {
    const image = smallImage();
    const space = new Space(image);
    const reader = new ReaderSlot(image, 0);
    for (const epoch of [2 ** 31 - 1, -1]) {
      image.header[HEADER.EPOCH] = epoch;
      const ref = allocate(space, 5);
      reader.enter();
      space.retire(ref, 5);
      space.reclaim();
      space.reclaim();
      expect(image.header[HEADER.EPOCH]).not.toBe(0);
      expect(allocate(space, 5)).not.toBe(ref);
      reader.leave();
      space.reclaim();
      expect(allocate(space, 5)).toBe(ref);
    }
  });

  it('is free immediately if a change allocated it and did not keep it', () => {
    const image = smallImage();
    const space = new Space(image);
    const kept = allocate(space, 7);
    const used = image.bytesUsed;
    const refs = [space.allocate(7), space.allocate(300)];
    space.takeBack();
    expect(image.bytesUsed).toBe(used);
    expect([space.allocate(300), space.allocate(7)].sort()).toEqual(refs.sort());
    expect(refs).not.toContain(kept);
  });

  it('that becomes free during a pause is only used afterwards', () => {
    const space = new Space(smallImage());
    const [before, during] = [allocate(space, 5), allocate(space, 5)];
    space.retire(before, 5);
    space.reclaim();
    space.pauseReuse();
    space.retire(during, 5);
    space.reclaim();
    expect(allocate(space, 5)).toBe(before);
    expect(allocate(space, 5)).not.toBe(during);
    space.resumeReuse();
    expect(allocate(space, 5)).toBe(during);
  });

  it('in many small blocks can form a large one, and a large one can be split', () => {
    const image = smallImage();
    const space = new Space(image);
    const small = fill(space, 3);
    for (const ref of small) space.retire(ref, 3);
    space.reclaim();
    const large = fill(space, 20_000);
    expect(large.length).toBe(Math.floor((small.length * 3) / unitsOfClass(classFor(20_000))));
    for (const ref of large) space.retire(ref, 20_000);
    space.reclaim();
    expect(fill(space, 3).length).toBeGreaterThan(small.length * 0.99);
  });

  it('is not joined if it is not adjacent', () => {
    const space = new Space(smallImage());
    const refs = fill(space, 4);
    const freed = refs.filter((_, i) => i % 2 === 0 && i < refs.length - 1);
    for (const ref of freed) space.retire(ref, 4);
    space.reclaim();
    expect(() => space.allocate(5)).toThrow(ImageFullError);
    expect(fill(space, 4).length).toBe(freed.length);
  });

  it('continues in the next segment, without a block across the border', () => {
    const image = new Image(createImage(2 ** 30 + 2 ** 20, 1));
    const used = image.header[HEADER.USED] as number;
    image.header[HEADER.END] = SEGMENT_UNITS - 10;
    const space = new Space(image);
    const refs = [allocate(space, 6), allocate(space, 6), allocate(space, 4)];
    expect(refs).toEqual([SEGMENT_UNITS - 10, SEGMENT_UNITS, SEGMENT_UNITS - 4]);
    expect(image.header[HEADER.USED]).toBe(used + 16);
  });

  it('includes exported free space and retired blocks for a second writer', () => {
    const image = smallImage();
    const space = new Space(image);
    const refs = Array.from({ length: 10 }, () => allocate(space, 9));
    const reader = new ReaderSlot(image, 0);
    space.retire(refs[1] as number, 9);
    space.reclaim();
    reader.enter();
    space.retire(refs[2] as number, 9);
    const second = new Space(image, space.exportFree());
    expect(image.bytesUsed).toBe(image.endBytes - 2 * 72);
    const taken = [allocate(second, 9), allocate(second, 9)];
    expect(taken.sort()).toEqual([refs[1], refs[2]].sort());
    expect(refs).not.toContain(allocate(second, 9));
  });

  it('stays complete after any allocations and releases', () => {
    const image = smallImage(256 * 1024);
    const space = new Space(image);
    const random = randomFrom(7);
    const held: [ref: number, units: number][] = [];
    const reader = new ReaderSlot(image, 0);
    let refused = 0;
    for (let i = 0; i < scale(30_000, 8_000); i++) {
      const units = 1 + Math.floor(2 ** (random() * 12));
      if (random() < 0.52) {
        try {
          held.push([allocate(space, units), units]);
        } catch {
          refused++;
        }
      } else if (held.length > 0) {
        const at = Math.floor(random() * held.length);
        const [ref, size] = held[at] as [number, number];
        held[at] = held.at(-1) as [number, number];
        held.pop();
        space.retire(ref, size);
      }
      if (random() < 0.05) reader.enter();
      if (random() < 0.1) reader.leave();
      if (random() < 0.3) space.reclaim();
      if (i % 500 === 0) expectApart(held);
    }
    reader.leave();
    space.reclaim();
    expect(refused).toBeGreaterThan(100);
    for (const [ref, size] of held) space.retire(ref, size);
    space.reclaim();
    expect(image.bytesUsed).toBe(smallImage().bytesUsed);
    expect(fill(space, 1).length).toBe((256 * 1024 - smallImage().bytesUsed) / 8);
  });
});

function expectApart(held: readonly (readonly [number, number])[]): void {
  const blocks = [...held].sort(([a], [b]) => a - b);
  const ends = blocks.map(([ref, units]) => ref + unitsOfClass(classFor(units)));
  expect(blocks.filter(([ref], i) => i > 0 && ref < (ends[i - 1] as number))).toEqual([]);
}
