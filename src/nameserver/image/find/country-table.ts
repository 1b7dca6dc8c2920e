// Maps addresses to countries, in shared memory that is filled once: the starts of all prefixes in order, the length and
// country of each, and the position of the first prefix for each value of the upper 16 bits. Prefixes leave no gaps.

/** Returns the country as a small number: 1 + 26 × first letter + second letter; 0 if invalid. */
export function countryNumber(code: string): number {
  const first = code.charCodeAt(0) - 0x41;
  const second = code.charCodeAt(1) - 0x41;
  const isCode = code.length === 2 && first >= 0 && first < 26 && second >= 0 && second < 26;
  return isCode ? 1 + 26 * first + second : 0;
}

/** A prefix of one family: the upper 32 bits of its first address and, for IPv6, the next 32, each as an Int32. */
export interface CountryPrefix {
  readonly high: number;
  readonly low: number;
  /** At most 32 for IPv4, and 64 for IPv6. */
  readonly bits: number;
  readonly country: number;
}

const UPPER = 65536;
const MOST_V4 = 1_000_000;
const MOST_V6 = 1_600_000;
/** The first words: whether the table is filled, and the number of prefixes per family. */
const HEAD = { READY: 0, V4: 1, V6: 2, WORDS: 4 } as const;
const WORDS = HEAD.WORDS + 2 * (UPPER + 1) + MOST_V4 + 2 * MOST_V6;
const PREFIXES = MOST_V4 + MOST_V6;

/** Memory that is never written takes no space. */
export const COUNTRY_TABLE_BYTES = 4 * WORDS + 2 * PREFIXES + PREFIXES;

interface Family {
  readonly most: number;
  /** Index of the last prefix that starts at or before each value of the upper bits. */
  readonly upper: Int32Array;
  readonly high: Int32Array;
  /** Used by IPv6 only. */
  readonly low: Int32Array;
  readonly countries: Uint16Array;
  readonly bits: Uint8Array;
}

export class CountryTable {
  /** Result of the last `find`: the country's number, and the length of the matching prefix. */
  country = 0;
  bits = 0;
  readonly #head: Int32Array;
  readonly #v4: Family;
  readonly #v6: Family;

  constructor(buffer: SharedArrayBuffer) {
    let at = 0;
    const words = (length: number) => {
      const view = new Int32Array(buffer, at, length);
      at += view.byteLength;
      return view;
    };
    const counts = (length: number) => {
      const view = new Uint16Array(buffer, at, length);
      at += view.byteLength;
      return view;
    };
    const octets = (length: number) => {
      const view = new Uint8Array(buffer, at, length);
      at += view.byteLength;
      return view;
    };
    this.#head = words(HEAD.WORDS);
    const uppers = [words(UPPER + 1), words(UPPER + 1)] as const;
    const highs = [words(MOST_V4), words(MOST_V6)] as const;
    const low = words(MOST_V6);
    const countries = [counts(MOST_V4), counts(MOST_V6)] as const;
    const bits = [octets(MOST_V4), octets(MOST_V6)] as const;
    const family = (i: 0 | 1, most: number) => ({
      most,
      upper: uppers[i],
      high: highs[i],
      low,
      countries: countries[i],
      bits: bits[i],
    });
    this.#v4 = family(0, MOST_V4);
    this.#v6 = family(1, MOST_V6);
  }

  get isReady(): boolean {
    return Atomics.load(this.#head, HEAD.READY) === 1;
  }

  /** Fills the table permanently with prefixes sorted by address. Returns false if there are too many or none. */
  fill(v4: Iterable<CountryPrefix>, v6: Iterable<CountryPrefix>): boolean {
    const counted = [fillFamily(this.#v4, v4, false), fillFamily(this.#v6, v6, true)] as const;
    if (counted.includes(0)) return false;
    this.#head[HEAD.V4] = counted[0];
    this.#head[HEAD.V6] = counted[1];
    Atomics.store(this.#head, HEAD.READY, 1);
    return true;
  }

  find4(address: number): void {
    const { upper, high, countries, bits } = this.#v4;
    let from = upper[address >>> 16] as number;
    let to = upper[(address >>> 16) + 1] as number;
    const key = address ^ SIGN;
    while (from < to) {
      const middle = (from + to + 1) >>> 1;
      if (((high[middle] as number) ^ SIGN) <= key) from = middle;
      else to = middle - 1;
    }
    this.country = countries[from] as number;
    this.bits = bits[from] as number;
  }

  find6(addressHigh: number, addressLow: number): void {
    const { upper, high, low, countries, bits } = this.#v6;
    let from = upper[addressHigh >>> 16] as number;
    let to = upper[(addressHigh >>> 16) + 1] as number;
    const keyHigh = addressHigh ^ SIGN;
    const keyLow = addressLow ^ SIGN;
    while (from < to) {
      const middle = (from + to + 1) >>> 1;
      const atHigh = (high[middle] as number) ^ SIGN;
      if (atHigh < keyHigh || (atHigh === keyHigh && ((low[middle] as number) ^ SIGN) <= keyLow))
        from = middle;
      else to = middle - 1;
    }
    this.country = countries[from] as number;
    this.bits = bits[from] as number;
  }
}

/** Inverts the highest bit, so that signed words compare as unsigned ones. */
const SIGN = 0x80000000 | 0;

/** Returns the number of prefixes; 0 if there are too many or none. */
function fillFamily(family: Family, prefixes: Iterable<CountryPrefix>, hasLow: boolean): number {
  let count = 0;
  let upper = 0;
  for (const { high, low, bits, country } of prefixes) {
    if (count === family.most) return 0;
    const begins = high >>> 16;
    while (upper < begins) family.upper[upper++] = count - 1;
    if (upper === begins && (high & 0xffff) === 0 && low === 0) family.upper[upper++] = count;
    family.high[count] = high;
    if (hasLow) family.low[count] = low;
    family.countries[count] = country;
    family.bits[count] = bits;
    count++;
  }
  while (upper <= UPPER) family.upper[upper++] = count - 1;
  return count;
}
