// The image as memory: its limits, its header, the readers' slots.

import { describe, expect, it } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { clearSlot, createImage, Image, ReaderSlot } from '../../../src/zone/image/image.ts';
import {
  HEADER,
  HEADER_BYTES,
  MAX_IMAGE_BYTES,
  READER_SLOT_WORDS,
  READER_SLOTS_AT,
} from '../../../src/zone/image/layout.ts';
import { ImageWriter } from '../../../src/zone/image/write-image.ts';
import { readZone } from '../../support/zone/read-zone.ts';
import { smallImage, zoneInImage } from '../../support/zone/zone-image.ts';
import { zoneOf } from '../../support/zone/zone-text.ts';

const ZONE = zoneOf('example.', '@ 60 SOA a b 1 2 3 4 5\n@ 60 NS a\nwww 60 A 192.0.2.1');
const SMALLEST_BYTES = 64 * 1024;
const CONTENT = { id: 1, version: 2, mark: 3 };

describe('an image', () => {
  it('is as large as wished, within limits', () => {
    expect(new Image(createImage(SMALLEST_BYTES + 7, 1)).capacityBytes).toBe(SMALLEST_BYTES);
    for (const bytes of [SMALLEST_BYTES - 1, MAX_IMAGE_BYTES + 1, Number.NaN]) {
      expect(() => createImage(bytes, 1)).toThrow(RangeError);
    }
  });

  it('is empty at first', () => {
    const image = smallImage();
    expect(image).toMatchObject({ zones: 0, records: 0, isFull: false });
    expect(image.bytesUsed).toBe(image.endBytes);
    expect(readZone(image, ZONE.apex)).toBeUndefined();
  });

  it('is refused in another format', () => {
    expect(() => new Image(new SharedArrayBuffer(SMALLEST_BYTES))).toThrow(/no zone image/);
    const buffer = createImage(SMALLEST_BYTES, 1);
    new Int32Array(buffer)[HEADER.FORMAT] = 99;
    expect(() => new Image(buffer)).toThrow(/no zone image/);
  });

  it('continues in another buffer from its header, its blocks and its free space', () => {
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

  it('refuses a header whose blocks it has no room for', () => {
    const image = smallImage();
    const header = image.exportHeader();
    header[HEADER.END] = (header[HEADER.CAPACITY] as number) + 1;
    expect(() => image.importHeader(header)).toThrow(/there is room for/);
    expect(() => image.importHeader(header.subarray(1))).toThrow(RangeError);
    expect(() => image.importHeader(header.fill(0))).toThrow(/no zone image/);
  });
});

describe('a reader slot', () => {
  const wordOf = (image: Image, slot: number) => image.header[READER_SLOTS_AT + slot * READER_SLOT_WORDS];

  it('shows the epoch in which its reader entered, until it leaves', () => {
    const image = smallImage();
    image.header[HEADER.EPOCH] = 42;
    const slot = new ReaderSlot(image, 127);
    slot.enter();
    expect(wordOf(image, 127)).toBe(42);
    slot.leave();
    expect(wordOf(image, 127)).toBe(0);
  });

  it('can be cleared for a reader that died', () => {
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
