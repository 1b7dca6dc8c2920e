// The space of an image being checked: its blocks must lie inside and not overlap. Each block is taken once, which sets
// one bit per unit.

import type { Image } from '../image.ts';
import { HEADER, HEADER_BYTES, SEGMENT_UNITS, segmentOf, UNIT_BYTES } from '../layout.ts';
import { classFor, unitsOfClass } from '../size-class.ts';
import { demand } from './demand.ts';

const FIRST_BLOCK = HEADER_BYTES / UNIT_BYTES;

export class TakenSpace {
  /** The unit after the last block. */
  readonly end: number;
  readonly #image: Image;
  readonly #onStep: () => void;
  /** One bit per unit below the end, set if a block contains it. */
  readonly #taken: Int32Array;
  #takenUnits = 0;

  constructor(image: Image, onStep: () => void) {
    const { header } = image;
    this.end = header[HEADER.END] as number;
    demand(
      this.end >= FIRST_BLOCK && this.end <= (header[HEADER.CAPACITY] as number),
      'its end is outside the image',
    );
    this.#image = image;
    this.#onStep = onStep;
    this.#taken = new Int32Array((this.end >>> 5) + 1);
  }

  /** Marks a block as used. It must lie inside, in one segment, and must not overlap another. */
  take(ref: number, units: number): void {
    const isInside = ref >= FIRST_BLOCK && units > 0 && units <= this.end - ref;
    demand(isInside && segmentOf(ref) === segmentOf(ref + units - 1), 'a block is outside the image');
    const taken = this.#taken;
    const last = ref + units - 1;
    for (let word = ref >>> 5; word <= last >>> 5; word++) {
      const from = word === ref >>> 5 ? ref & 31 : 0;
      const to = word === last >>> 5 ? last & 31 : 31;
      const bits = (-1 >>> (31 - to)) & (-1 << from);
      demand(((taken[word] as number) & bits) === 0, 'two blocks overlap');
      taken[word] = (taken[word] as number) | bits;
    }
    this.#takenUnits += units;
    if ((units & 0xfff) === 0) this.#onStep();
  }

  /** Marks the block that the writer allocates for this many units. */
  takeUnits(ref: number, units: number): void {
    this.take(ref, unitsOfClass(classFor(units)));
  }

  /** Marks the block that the writer allocates for this many words. */
  takeWords(ref: number, words: number): void {
    this.takeUnits(ref, Math.ceil((words * 4) / UNIT_BYTES));
  }

  /** Demands that every unit is either used or free. */
  demandWhole(): void {
    demand(this.#takenUnits === this.end - FIRST_BLOCK, 'space in it is neither used nor free');
  }

  /** Demands that the first words of a block lie inside, and returns its segment. */
  enter(ref: number, words: number): Int32Array {
    const isInside = ref >= FIRST_BLOCK && ref + Math.ceil(words / 2) <= this.end;
    demand(
      isInside && (ref % SEGMENT_UNITS) + Math.ceil(words / 2) <= SEGMENT_UNITS,
      'a block is outside the image',
    );
    return this.#image.words[segmentOf(ref)] as Int32Array;
  }
}
