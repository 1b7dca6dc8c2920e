// Who gets which blocks: never one that is in use or still read, and all of the image as long as any of it is free.

import { describe, expect, it } from 'vitest';
import { createImage, Image, ReaderSlot } from '../../../src/zone/image/image.ts';
import { HEADER, SEGMENT_UNITS } from '../../../src/zone/image/layout.ts';
import { classFor, unitsOfClass } from '../../../src/zone/image/size-class.ts';
import { ImageFullError, Space } from '../../../src/zone/image/space.ts';
import { randomFrom } from '../../support/random/random-zones.ts';
import { scale } from '../../support/tests/scale.ts';
import { smallImage } from '../../support/zone/zone-image.ts';

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
  it('is handed out once, to the last unit, and counted', () => {
    const bytes = 64 * 1024;
    const image = smallImage(bytes);
    const before = image.bytesUsed;
    const refs = fill(new Space(image), 1);
    expect(new Set(refs).size).toBe(refs.length);
    expect(refs.length).toBe((bytes - before) / 8);
    expect(image.bytesUsed).toBe(bytes);
    expect(image.endBytes).toBe(bytes);
  });

  it('is reused once it is retired and has no reader', () => {
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

  it.each([true, false])('that is tidied gives large blocks beside small ones: %s', (isTidied) => {
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

  it('is not used again while a reader that entered before is in it', () => {
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

  it('waits for readers across the wrap of the epoch', () => {
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

  it('that a change allocated and did not keep is free at once', () => {
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

  it('that becomes free in a pause is used after it only', () => {
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

  it('of many small blocks makes a large one, and of a large one many small ones', () => {
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

  it('does not join what is not side by side', () => {
    const space = new Space(smallImage());
    const refs = fill(space, 4);
    const freed = refs.filter((_, i) => i % 2 === 0 && i < refs.length - 1);
    for (const ref of freed) space.retire(ref, 4);
    space.reclaim();
    expect(() => space.allocate(5)).toThrow(ImageFullError);
    expect(fill(space, 4).length).toBe(freed.length);
  });

  it('continues in the next segment without a block in both', () => {
    const image = new Image(createImage(2 ** 30 + 2 ** 20, 1));
    const used = image.header[HEADER.USED] as number;
    image.header[HEADER.END] = SEGMENT_UNITS - 10;
    const space = new Space(image);
    const refs = [allocate(space, 6), allocate(space, 6), allocate(space, 4)];
    expect(refs).toEqual([SEGMENT_UNITS - 10, SEGMENT_UNITS, SEGMENT_UNITS - 4]);
    expect(image.header[HEADER.USED]).toBe(used + 16);
  });

  it('holds what a second writer is told is free, and what was retired with it', () => {
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

  it('stays whole, whatever is taken and given back', () => {
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
