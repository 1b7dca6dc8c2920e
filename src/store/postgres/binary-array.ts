// Encodes long arrays in the binary format of Postgres, which neither side needs to quote or parse.

const OIDS = { boolean: 16, bytea: 17, bigint: 20, integer: 23, text: 25, timestamptz: 1184 };

export type ArrayType = keyof typeof OIDS;

const HEADER_OCTETS = 20;
const FIRST_OCTETS = 4096;
const LENGTH_OCTETS = 4;
const MAX_UTF8_OCTETS = 3; // of a UTF-16 code unit
/** Postgres counts microseconds from this time. */
const EPOCH_MS = Date.UTC(2000, 0, 1);

/** Returns the array as a parameter. Null and undefined are null. Times are Dates or RFC 3339 texts, in milliseconds. */
export function encodeArray<T>(type: ArrayType, items: readonly T[], read: (item: T) => unknown): Buffer {
  const array = new ArrayWriter(type, items.length);
  for (const item of items) array.add(read(item));
  return array.take();
}

class ArrayWriter {
  readonly #type: ArrayType;
  #octets = Buffer.allocUnsafe(FIRST_OCTETS);
  #end = HEADER_OCTETS;
  #hasNull = 0;
  readonly #count: number;
  /** Records of one import have the same time. */
  #time: unknown;
  #microseconds = 0;

  constructor(type: ArrayType, count: number) {
    this.#type = type;
    this.#count = count;
  }

  take(): Buffer {
    const octets = this.#octets;
    octets.writeInt32BE(1, 0); // dimensions
    octets.writeInt32BE(this.#hasNull, 4);
    octets.writeInt32BE(OIDS[this.#type], 8);
    octets.writeInt32BE(this.#count, 12);
    octets.writeInt32BE(1, 16); // the first index
    return octets.subarray(0, this.#end);
  }

  add(value: unknown): void {
    if (value === null || value === undefined) {
      this.#hasNull = 1;
      this.#int32(-1);
      return;
    }
    switch (this.#type) {
      case 'boolean':
        this.#int32(1);
        this.#reserve(1);
        this.#octets[this.#end++] = value ? 1 : 0;
        return;
      case 'integer':
        if (!Number.isInteger(value)) throw new RangeError(`${value} is not an integer`);
        this.#int32(4);
        this.#int32(value as number);
        return;
      case 'bigint':
        this.#int64(value as number);
        return;
      case 'timestamptz':
        this.#int64(this.#microsecondsOf(value as Date | string));
        return;
      case 'text':
        this.#text(value as string);
        return;
      case 'bytea':
        this.#bytea(value as Uint8Array);
    }
  }

  #microsecondsOf(time: Date | string): number {
    if (time !== this.#time) {
      this.#time = time;
      this.#microseconds = (new Date(time).getTime() - EPOCH_MS) * 1000;
    }
    return this.#microseconds;
  }

  #int32(value: number): void {
    this.#reserve(4);
    this.#octets.writeInt32BE(value, this.#end);
    this.#end += 4;
  }

  #int64(value: number): void {
    if (!Number.isSafeInteger(value)) throw new RangeError(`${value} is not an integer`);
    this.#int32(8);
    const high = Math.floor(value / 2 ** 32);
    this.#int32(high);
    this.#int32((value - high * 2 ** 32) | 0);
  }

  #text(text: string): void {
    this.#reserve(LENGTH_OCTETS + text.length * MAX_UTF8_OCTETS);
    const start = this.#end + LENGTH_OCTETS;
    const length = this.#octets.write(text, start);
    this.#octets.writeInt32BE(length, this.#end);
    this.#end = start + length;
  }

  #bytea(octets: Uint8Array): void {
    this.#int32(octets.length);
    this.#reserve(octets.length);
    this.#octets.set(octets, this.#end);
    this.#end += octets.length;
  }

  #reserve(octets: number): void {
    const needed = this.#end + octets;
    if (needed <= this.#octets.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#octets.length));
    this.#octets.copy(larger, 0, 0, this.#end);
    this.#octets = larger;
  }
}
