// Allocates the space of an image, and reuses blocks once no reader can still be in them. Its state is private to the
// writer; the header has only totals. A freed block returns to its size class. If no other space is left, neighbours
// are joined and larger blocks are split.

import type { Image } from './image.ts';
import { IntStack } from './int-stack.ts';
import {
  HEADER,
  READER_SLOT_WORDS,
  READER_SLOTS,
  READER_SLOTS_AT,
  SEGMENT_UNITS,
  UNIT_BYTES,
} from './layout.ts';
import { RetiredBlocks } from './retired-blocks.ts';
import { classFor, classWithin, SIZE_CLASSES, unitsOfClass } from './size-class.ts';

/** Thrown before anything visible to readers has changed. */
export class ImageFullError extends Error {
  override readonly name = 'ImageFullError';
}

export class Space {
  readonly #header: Int32Array;
  /** The refs of free blocks by class. */
  readonly #free: IntStack[] = Array.from({ length: SIZE_CLASSES }, () => new IntStack());
  readonly #retired = new RetiredBlocks();
  /** Refs and classes of the blocks allocated by the current change. */
  readonly #fresh = new IntStack();
  /** The rest of a free block that is being split. */
  #carvedAt = 0;
  #carvedEnd = 0;
  #paused = false;
  /** Units at the end of the image reserved for marking zones that do not fit. */
  #reserve: number;
  /** Units that became free, or that were merged, since neighbours were last joined. */
  #freedUnits = 0;

  /** @param free the result of `exportFree` for this content */
  constructor(image: Image, free?: Int32Array, reserve = 0) {
    this.#header = image.header;
    this.#reserve = reserve;
    if (free === undefined) return;
    for (let i = 0; i < free.length; i += 2) {
      this.#addFree(free[i] as number, free[i + 1] as number);
      this.#freedUnits += free[i + 1] as number;
    }
    this.#header[HEADER.USED] = (this.#header[HEADER.END] as number) - this.#freedUnits;
  }

  /** Allocates a block of at least this many units with undefined content. Throws ImageFullError. */
  allocate(units: number): number {
    const sizeClass = classFor(units);
    const ref = this.#free[sizeClass]?.pop() || this.#extend(sizeClass) || this.#salvage(sizeClass);
    if (ref === 0) {
      const capacity = (this.#header[HEADER.CAPACITY] as number) * UNIT_BYTES;
      throw new ImageFullError(
        `the zone image of ${capacity} bytes has no space for another ${units * UNIT_BYTES} bytes`,
      );
    }
    this.#addUsed(unitsOfClass(sizeClass));
    this.#fresh.push(ref);
    this.#fresh.push(sizeClass);
    return ref;
  }

  /**
   * Joins neighbours if at least this many units became free. Call it before many allocations that include large
   * blocks; otherwise small blocks are taken from all parts of the free space.
   */
  tidy(units: number): void {
    if (this.#freedUnits >= units) this.#join();
  }

  /** Runs `make`, which may allocate from the reserve. */
  fromReserve(make: () => void): void {
    const reserve = this.#reserve;
    this.#reserve = 0;
    try {
      make();
    } finally {
      this.#reserve = reserve;
    }
  }

  /** Keeps the blocks allocated since the last call. */
  keep(): void {
    this.#fresh.clear();
  }

  /** Frees the blocks allocated since the last `keep`, which no reader has seen. */
  takeBack(): void {
    while (this.#fresh.length > 0) {
      const sizeClass = this.#fresh.pop();
      this.#release(this.#fresh.pop(), sizeClass);
    }
  }

  /** Retires a block that new readers can no longer reach. */
  retire(ref: number, units: number): void {
    this.#retired.add(ref, classFor(units), this.#header[HEADER.EPOCH] as number);
  }

  /** Frees the retired blocks that no reader can still use. */
  reclaim(): void {
    if (this.#paused || this.#retired.length === 0) return;
    const epoch = Atomics.load(this.#header, HEADER.EPOCH);
    const next = epoch === -1 ? 1 : (epoch + 1) | 0; // 0 means idle
    Atomics.store(this.#header, HEADER.EPOCH, next);
    const oldest = this.#oldestReader(next);
    for (;;) {
      const sizeClass = this.#retired.classOfFirst(oldest);
      if (sizeClass === 0) return;
      this.#release(this.#retired.takeFirst(), sizeClass);
    }
  }

  /** Prevents the use of blocks that become free from now on. Blocks that are already free are still used. */
  pauseReuse(): void {
    this.#paused = true;
  }

  resumeReuse(): void {
    this.#paused = false;
    this.reclaim();
  }

  /** Returns pairs of ref and units of all unused space, including retired blocks: readers do not outlive the process. */
  exportFree(): Int32Array {
    this.#closeCarved();
    const pairs = new IntStack();
    const add = (ref: number, sizeClass: number): void => {
      pairs.push(ref);
      pairs.push(unitsOfClass(sizeClass));
    };
    this.#forEachFree(add);
    this.#retired.forEach(add);
    return pairs.slice();
  }

  /** Returns the epoch of the reader that entered first, or `now` if all are idle. Epochs wrap, so only differences count. */
  #oldestReader(now: number): number {
    let oldest = now;
    for (let slot = 0; slot < READER_SLOTS; slot++) {
      const entered = Atomics.load(this.#header, READER_SLOTS_AT + slot * READER_SLOT_WORDS);
      if (entered !== 0 && ((entered - oldest) | 0) < 0) oldest = entered;
    }
    return oldest;
  }

  /** Allocates from the unused end. Returns 0 if none is left. A segment's rest that is too short becomes free. */
  #extend(sizeClass: number): number {
    const units = unitsOfClass(sizeClass);
    if (units > SEGMENT_UNITS) return 0;
    const end = this.#header[HEADER.END] as number;
    const inSegment = end % SEGMENT_UNITS;
    const skipped = inSegment + units > SEGMENT_UNITS ? SEGMENT_UNITS - inSegment : 0;
    if (end + skipped + units > (this.#header[HEADER.CAPACITY] as number) - this.#reserve) return 0;
    this.#header[HEADER.END] = end + skipped + units;
    this.#addFree(end, skipped);
    return end + skipped;
  }

  /** Allocates from larger free blocks, after joining neighbours if necessary. Returns 0 if there are none. */
  #salvage(sizeClass: number): number {
    const units = unitsOfClass(sizeClass);
    const found = this.#carve(units);
    if (found !== 0 || this.#freedUnits < units) return found;
    this.#join();
    return this.#free[sizeClass]?.pop() || this.#extend(sizeClass) || this.#carve(units);
  }

  /** Returns the next part of the block being split, preferably one that yields many parts: the rest of each is wasted. */
  #carve(units: number): number {
    if (this.#carvedEnd - this.#carvedAt < units) {
      this.#closeCarved();
      const WISHED_PARTS = 16;
      const sizeClass = this.#classWithBlock(units * WISHED_PARTS) || this.#classWithBlock(units);
      if (sizeClass === 0) return 0;
      this.#carvedAt = this.#free[sizeClass]?.pop() ?? 0;
      this.#carvedEnd = this.#carvedAt + unitsOfClass(sizeClass);
    }
    this.#carvedAt += units;
    return this.#carvedAt - units;
  }

  #closeCarved(): void {
    this.#addFree(this.#carvedAt, this.#carvedEnd - this.#carvedAt);
    this.#freedUnits += this.#carvedEnd - this.#carvedAt;
    this.#carvedAt = this.#carvedEnd;
  }

  /** Returns the smallest class for this many units that has a free block, or 0. */
  #classWithBlock(units: number): number {
    for (let sizeClass = classFor(units); sizeClass < SIZE_CLASSES; sizeClass++) {
      if ((this.#free[sizeClass]?.length ?? 0) > 0) return sizeClass;
    }
    return 0;
  }

  /** Joins free neighbours. Those at the end become untouched space again. */
  #join(): void {
    this.#closeCarved();
    const CLASSES = 1024;
    let count = 0;
    for (const stack of this.#free) count += stack.length;
    const blocks = new Float64Array(count);
    let filled = 0;
    this.#forEachFree((ref, sizeClass) => {
      blocks[filled++] = ref * CLASSES + sizeClass;
    });
    blocks.sort();
    for (const stack of this.#free) stack.clear();
    let start = 0;
    let end = 0;
    for (const block of blocks) {
      const ref = Math.floor(block / CLASSES);
      if (ref !== end || ref % SEGMENT_UNITS === 0) {
        this.#addFree(start, end - start);
        start = ref;
      }
      end = ref + unitsOfClass(block % CLASSES);
    }
    if (end === this.#header[HEADER.END]) this.#header[HEADER.END] = start;
    else this.#addFree(start, end - start);
    this.#freedUnits = 0;
  }

  #forEachFree(visit: (ref: number, sizeClass: number) => void): void {
    for (const [sizeClass, stack] of this.#free.entries())
      stack.forEach((ref) => {
        visit(ref, sizeClass);
      });
  }

  /** Adds a range to the free blocks, as few and large as the classes allow. */
  #addFree(ref: number, units: number): void {
    let at = ref;
    for (let left = units; left > 0; ) {
      const sizeClass = classWithin(left);
      this.#free[sizeClass]?.push(at);
      at += unitsOfClass(sizeClass);
      left -= unitsOfClass(sizeClass);
    }
  }

  #release(ref: number, sizeClass: number): void {
    this.#free[sizeClass]?.push(ref);
    this.#freedUnits += unitsOfClass(sizeClass);
    this.#addUsed(-unitsOfClass(sizeClass));
  }

  #addUsed(units: number): void {
    this.#header[HEADER.USED] = (this.#header[HEADER.USED] as number) + units;
  }
}
