// The space of an image: blocks handed out, taken back, and used again once no reader can still be in them. All of it is
// the writer's own memory; the header only counts. A block goes back to its size class; when nothing else is left,
// neighbours are joined and larger blocks split.

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

/** Thrown before anything that readers see has changed. */
export class ImageFullError extends Error {
  override readonly name = 'ImageFullError';
}

export class Space {
  readonly #header: Int32Array;
  /** The refs of free blocks, by class. */
  readonly #free: IntStack[] = Array.from({ length: SIZE_CLASSES }, () => new IntStack());
  readonly #retired = new RetiredBlocks();
  /** The refs and classes that the current change has allocated. */
  readonly #fresh = new IntStack();
  /** The rest of a free block that is being cut up. */
  #carvedAt = 0;
  #carvedEnd = 0;
  #paused = false;
  /** Units at the end of the image that are reserved for marking zones that have no room. */
  #reserve: number;
  /** Units that became free, or joined other blocks, since neighbours were last joined. */
  #freedUnits = 0;

  /** `free`: what `exportFree` gave for this content. */
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

  /** A block of at least so many units, with anything in it. Throws ImageFullError. */
  allocate(units: number): number {
    const sizeClass = classFor(units);
    const ref = this.#free[sizeClass]?.pop() || this.#extend(sizeClass) || this.#salvage(sizeClass);
    if (ref === 0) {
      const capacity = (this.#header[HEADER.CAPACITY] as number) * UNIT_BYTES;
      throw new ImageFullError(
        `the zone image of ${capacity} bytes has no room for another ${units * UNIT_BYTES}`,
      );
    }
    this.#addUsed(unitsOfClass(sizeClass));
    this.#fresh.push(ref);
    this.#fresh.push(sizeClass);
    return ref;
  }

  /**
   * Call it before many allocations that include large blocks: when at least so many units became free, neighbours are
   * joined, since small blocks would else be taken from all over the free space.
   */
  tidy(units: number): void {
    if (this.#freedUnits >= units) this.#join();
  }

  /** What is allocated meanwhile may take the reserve. */
  fromReserve(make: () => void): void {
    const reserve = this.#reserve;
    this.#reserve = 0;
    try {
      make();
    } finally {
      this.#reserve = reserve;
    }
  }

  /** Keeps what was allocated since the last call. */
  keep(): void {
    this.#fresh.clear();
  }

  /** Takes back what was allocated since the last `keep`: no reader has seen it. */
  takeBack(): void {
    while (this.#fresh.length > 0) {
      const sizeClass = this.#fresh.pop();
      this.#release(this.#fresh.pop(), sizeClass);
    }
  }

  /** A block that new readers no longer reach. */
  retire(ref: number, units: number): void {
    this.#retired.add(ref, classFor(units), this.#header[HEADER.EPOCH] as number);
  }

  /** Frees the retired blocks that every reader has left behind. */
  reclaim(): void {
    if (this.#paused || this.#retired.length === 0) return;
    const epoch = Atomics.load(this.#header, HEADER.EPOCH);
    const next = epoch === -1 ? 1 : (epoch + 1) | 0; // 0 says "idle"
    Atomics.store(this.#header, HEADER.EPOCH, next);
    const oldest = this.#oldestReader(next);
    for (;;) {
      const sizeClass = this.#retired.classOfFirst(oldest);
      if (sizeClass === 0) return;
      this.#release(this.#retired.takeFirst(), sizeClass);
    }
  }

  /** From now on only blocks that are free already are used, and none that becomes free. */
  pauseReuse(): void {
    this.#paused = true;
  }

  resumeReuse(): void {
    this.#paused = false;
    this.reclaim();
  }

  /** Pairs of ref and units of all that is not in use, retired blocks among them: readers do not outlive the process. */
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

  /** The epoch of the reader that entered first, or `now` when all are idle. Epochs wrap: only differences count. */
  #oldestReader(now: number): number {
    let oldest = now;
    for (let slot = 0; slot < READER_SLOTS; slot++) {
      const entered = Atomics.load(this.#header, READER_SLOTS_AT + slot * READER_SLOT_WORDS);
      if (entered !== 0 && ((entered - oldest) | 0) < 0) oldest = entered;
    }
    return oldest;
  }

  /** Allocates from the unused end; 0: none is left. The rest of a segment that is too short becomes free. */
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

  /** From larger free blocks, if need be from such as joining neighbours makes; 0: there is none. */
  #salvage(sizeClass: number): number {
    const units = unitsOfClass(sizeClass);
    const found = this.#carve(units);
    if (found !== 0 || this.#freedUnits < units) return found;
    this.#join();
    return this.#free[sizeClass]?.pop() || this.#extend(sizeClass) || this.#carve(units);
  }

  /** The next part of the block that is being cut up. It should hold many: what is left of each is a hole. */
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

  /** The smallest class for so many units that has a free block, or 0. */
  #classWithBlock(units: number): number {
    for (let sizeClass = classFor(units); sizeClass < SIZE_CLASSES; sizeClass++) {
      if ((this.#free[sizeClass]?.length ?? 0) > 0) return sizeClass;
    }
    return 0;
  }

  /** Joins free neighbours; those at the end become untouched again. */
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

  /** Any range, in as few blocks as there are classes for. */
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
