// An image in memory: views of its buffer, its header, and the slots with which readers prevent the reuse of their space. All
// of it is reserved at creation: pages cost nothing until they are written, and a growing buffer would slow down every access.

import { hashFactors } from './hash-name.ts';
import {
  EDGE_SETS,
  FORMAT,
  HEADER,
  HEADER_BYTES,
  MAGIC,
  MAX_IMAGE_BYTES,
  MIN_LOG2_CAPACITY,
  READER_SLOT_WORDS,
  READER_SLOTS,
  READER_SLOTS_AT,
  SEGMENT_BYTES,
  segmentOf,
  TABLE,
  UNIT_BYTES,
  unitsForTable,
  wordOf,
} from './layout.ts';
import { classFor, unitsOfClass } from './size-class.ts';

const FIRST_TABLE = HEADER_BYTES / UNIT_BYTES;
const FIRST_TABLE_UNITS = unitsOfClass(classFor(unitsForTable(MIN_LOG2_CAPACITY)));

const MIN_IMAGE_BYTES = 64 * 1024;

/** Creates an image without zones. `seed` is 32 random bits, so that an attacker cannot choose names with equal hashes. */
export function createImage(bytes: number, seed: number): SharedArrayBuffer {
  if (!(bytes >= MIN_IMAGE_BYTES && bytes <= MAX_IMAGE_BYTES)) {
    throw new RangeError(
      `the size of an image must be ${MIN_IMAGE_BYTES} to ${MAX_IMAGE_BYTES} bytes, not ${bytes}`,
    );
  }
  const units = Math.floor(bytes / UNIT_BYTES);
  const buffer = new SharedArrayBuffer(units * UNIT_BYTES);
  const header = new Int32Array(buffer, 0, HEADER_BYTES / 4);
  header[HEADER.MAGIC] = MAGIC;
  header[HEADER.FORMAT] = FORMAT;
  const factors = hashFactors(seed);
  header[HEADER.HASH_SEED] = seed;
  header[HEADER.HASH_FACTOR_A] = factors.a;
  header[HEADER.HASH_FACTOR_B] = factors.b;
  header[HEADER.ZONE_TABLE] = FIRST_TABLE;
  header[HEADER.END] = FIRST_TABLE + FIRST_TABLE_UNITS;
  header[HEADER.USED] = FIRST_TABLE + FIRST_TABLE_UNITS;
  header[HEADER.CAPACITY] = Math.min(units, 2 ** 31 - 1);
  header[HEADER.EPOCH] = 1;
  new Int32Array(buffer, HEADER_BYTES, TABLE.SLOTS)[TABLE.LOG2_CAPACITY] = MIN_LOG2_CAPACITY;
  return buffer;
}

export class Image {
  readonly buffer: SharedArrayBuffer;
  /** The words of the header, which are those of the first segment. */
  readonly header: Int32Array;
  /** One per segment. */
  readonly words: readonly Int32Array[];
  readonly bytes: readonly Uint8Array[];
  readonly numbers: readonly Float64Array[];

  constructor(buffer: SharedArrayBuffer) {
    const words: Int32Array[] = [];
    const bytes: Uint8Array[] = [];
    const numbers: Float64Array[] = [];
    for (let at = 0; at < buffer.byteLength; at += SEGMENT_BYTES) {
      const length = Math.min(SEGMENT_BYTES, buffer.byteLength - at);
      words.push(new Int32Array(buffer, at, length / 4));
      bytes.push(new Uint8Array(buffer, at, length));
      numbers.push(new Float64Array(buffer, at, length / 8));
    }
    this.buffer = buffer;
    this.words = words;
    this.bytes = bytes;
    this.numbers = numbers;
    this.header = words[0] as Int32Array;
    checkFormat(this.header);
  }

  get zones(): number {
    return this.header[HEADER.ZONES] as number;
  }

  get records(): number {
    return this.header[HEADER.RECORDS] as number;
  }

  /** Number of regions with edge sets of their own. */
  get regions(): number {
    const ref = Atomics.load(this.header, HEADER.EDGE_SETS);
    return ref === 0
      ? 0
      : ((this.words[segmentOf(ref)] as Int32Array)[wordOf(ref) + EDGE_SETS.REGIONS] as number);
  }

  get bytesUsed(): number {
    return (this.header[HEADER.USED] as number) * UNIT_BYTES;
  }

  get capacityBytes(): number {
    return (this.header[HEADER.CAPACITY] as number) * UNIT_BYTES;
  }

  /** Number of bytes written so far. Later ones are untouched. */
  get endBytes(): number {
    return (this.header[HEADER.END] as number) * UNIT_BYTES;
  }

  /** True if the last change did not fit. */
  get isFull(): boolean {
    return this.header[HEADER.FULL] === 1;
  }

  /** Returns the header's description of the content. It is saved with the blocks from HEADER_BYTES to `endBytes`. */
  exportHeader(): Int32Array {
    return this.header.slice(0, READER_SLOTS_AT);
  }

  /**
   * Adopts the result of `exportHeader` after the blocks were filled in. The image keeps its capacity but gets the hash
   * of the blocks, so hash names for this image only after this call.
   */
  importHeader(words: Int32Array): void {
    if (words.length !== READER_SLOTS_AT)
      throw new RangeError('the header of the image has the wrong length');
    checkFormat(words);
    const capacity = this.header[HEADER.CAPACITY] as number;
    if ((words[HEADER.END] as number) > capacity) {
      throw new RangeError(
        `the image has ${(words[HEADER.END] as number) * UNIT_BYTES} bytes, but only ${this.capacityBytes} fit`,
      );
    }
    this.header.set(words);
    this.header[HEADER.CAPACITY] = capacity;
    this.header[HEADER.FULL] = 0;
  }
}

function checkFormat(header: Int32Array): void {
  if (header[HEADER.MAGIC] !== MAGIC || header[HEADER.FORMAT] !== FORMAT) {
    throw new RangeError(`this is not a zone image of format ${FORMAT}`);
  }
}

/**
 * Between `enter` and `leave`, nothing that the reader has reached is reused. Each slot has one reader. Leave after
 * each batch and before blocking, because the writer waits for the slowest reader.
 */
export class ReaderSlot {
  readonly #header: Int32Array;
  readonly #at: number;

  constructor(image: Image, slot: number) {
    this.#header = image.header;
    this.#at = slotAt(slot);
  }

  enter(): void {
    const header = this.#header;
    Atomics.store(header, this.#at, Atomics.load(header, HEADER.EPOCH));
    // The following plain loads must not be older than the store. An atomic load of any word between them ensures that.
    Atomics.load(header, HEADER.ZONE_TABLE);
  }

  leave(): void {
    Atomics.store(this.#header, this.#at, 0);
  }
}

/** The part of a slot that answering needs. */
export type Reader = Pick<ReaderSlot, 'enter' | 'leave'>;

/** Clears the slot of a reader that ended without leaving it. */
export function clearSlot(image: Image, slot: number): void {
  Atomics.store(image.header, slotAt(slot), 0);
}

function slotAt(slot: number): number {
  if (!(slot >= 0 && slot < READER_SLOTS)) throw new RangeError(`there is no reader slot ${slot}`);
  return READER_SLOTS_AT + slot * READER_SLOT_WORDS;
}
