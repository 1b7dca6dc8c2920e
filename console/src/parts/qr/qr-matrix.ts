// Encodes a text as a QR code (ISO/IEC 18004): byte mode, error correction level M, versions 1 to 10, up to 213 octets.

import { correctionOf } from './reed-solomon.ts';

/** A square matrix without its quiet zone. True is dark. */
export type QrMatrix = readonly (readonly boolean[])[];

/** By version: correction octets per block, then numbers of blocks with their numbers of data octets. */
const BLOCKS: readonly (readonly [number, ...(readonly [number, number][])])[] = [
  [10, [1, 16]],
  [16, [1, 28]],
  [26, [1, 44]],
  [18, [2, 32]],
  [24, [2, 43]],
  [16, [4, 27]],
  [18, [4, 31]],
  [22, [2, 38], [2, 39]],
  [22, [3, 36], [2, 37]],
  [26, [4, 43], [1, 44]],
];
const ALIGNMENT: readonly (readonly number[])[] = [
  [],
  [6, 18],
  [6, 22],
  [6, 26],
  [6, 30],
  [6, 34],
  [6, 22, 38],
  [6, 24, 42],
  [6, 26, 46],
  [6, 28, 50],
];
const MASKS: readonly ((x: number, y: number) => boolean)[] = [
  (x, y) => (x + y) % 2 === 0,
  (_, y) => y % 2 === 0,
  (x) => x % 3 === 0,
  (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(y / 2) + Math.floor(x / 3)) % 2 === 0,
  (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
];

/** Returns undefined if the text is too long. */
export function qrMatrix(text: string): QrMatrix | undefined {
  const octets = [...new TextEncoder().encode(text)];
  const version = BLOCKS.findIndex((_, i) => bitsNeeded(octets.length, i + 1) <= dataOctets(i + 1) * 8) + 1;
  if (version === 0) return undefined;
  const bits = codewords(octets, version).flatMap((octet) => bitsOf(octet, 8));
  const drawn = MASKS.map((_, mask) => draw(version, bits, mask));
  return drawn.reduce((best, each) => (penaltyOf(each) < penaltyOf(best) ? each : best));
}

const lengthBits = (version: number) => (version < 10 ? 8 : 16);
const bitsNeeded = (length: number, version: number) => 4 + lengthBits(version) + 8 * length;

function blocksOf(version: number): { correction: number; sizes: number[] } {
  const [correction, ...groups] = BLOCKS[version - 1] ?? [0];
  return { correction, sizes: groups.flatMap(([amount, size]) => Array<number>(amount).fill(size)) };
}

function dataOctets(version: number): number {
  return blocksOf(version).sizes.reduce((sum, size) => sum + size, 0);
}

function bitsOf(value: number, length: number): boolean[] {
  return Array.from({ length }, (_, i) => ((value >>> (length - 1 - i)) & 1) === 1);
}

/** Returns the data with header and padding in interleaved blocks, followed by the correction octets. */
function codewords(octets: readonly number[], version: number): number[] {
  const room = dataOctets(version);
  const bits = [
    ...bitsOf(0b0100, 4),
    ...bitsOf(octets.length, lengthBits(version)),
    ...octets.flatMap((octet) => bitsOf(octet, 8)),
  ];
  while (
    bits.length < room * 8 &&
    (bits.length % 8 !== 0 || bits.length < bitsNeeded(octets.length, version) + 4)
  ) {
    bits.push(false);
  }
  const data: number[] = [];
  for (let i = 0; i < bits.length; i += 8) {
    data.push(bits.slice(i, i + 8).reduce((value, bit) => value * 2 + Number(bit), 0));
  }
  for (let pad = 0xec; data.length < room; pad ^= 0xec ^ 0x11) data.push(pad);
  const { correction, sizes } = blocksOf(version);
  const left = [...data];
  const blocks = sizes.map((size) => left.splice(0, size));
  return [...interleave(blocks), ...interleave(blocks.map((block) => correctionOf(block, correction)))];
}

function interleave(blocks: readonly (readonly number[])[]): number[] {
  const longest = Math.max(...blocks.map((block) => block.length));
  return Array.from({ length: longest }, (_, i) =>
    blocks.flatMap((block) => (block[i] === undefined ? [] : [block[i]])),
  ).flat();
}

function draw(version: number, bits: readonly boolean[], mask: number): boolean[][] {
  const size = 17 + 4 * version;
  const rows: (boolean | undefined)[][] = Array.from({ length: size }, () => Array(size).fill(undefined));
  const set = (x: number, y: number, isDark: boolean) => {
    const row = rows[y];
    if (row !== undefined && x >= 0 && x < size) row[x] = isDark;
  };
  const square = (cx: number, cy: number, reach: number, isDark: (away: number) => boolean) => {
    for (let y = -reach; y <= reach; y++) {
      for (let x = -reach; x <= reach; x++) {
        set(cx + x, cy + y, isDark(Math.max(Math.abs(x), Math.abs(y))));
      }
    }
  };
  for (let i = 0; i < size; i++) {
    set(i, 6, i % 2 === 0);
    set(6, i, i % 2 === 0);
  }
  const centers = ALIGNMENT[version - 1] ?? [];
  const last = centers.at(-1);
  for (const y of centers) {
    for (const x of centers) {
      const isCorner = (x === 6 && y === 6) || (x === 6 && y === last) || (x === last && y === 6);
      if (!isCorner) square(x, y, 2, (away) => away !== 1);
    }
  }
  for (const [x, y] of [
    [3, 3],
    [size - 4, 3],
    [3, size - 4],
  ] as const) {
    square(x, y, 4, (away) => away !== 2 && away !== 4);
  }
  drawFormat(mask, size, set);
  if (version >= 7) drawVersion(version, size, set);
  placeData(rows, size, bits, MASKS[mask]!);
  return rows as boolean[][];
}

type SetModule = (x: number, y: number, isDark: boolean) => void;

/** Draws the format information twice: level M is 00; 15 bits with BCH. */
function drawFormat(mask: number, size: number, set: SetModule): void {
  const format = ((mask << 10) | remainder(mask, 10, 0x537)) ^ 0x5412;
  const bit = (i: number) => ((format >>> i) & 1) === 1;
  for (let i = 0; i < 15; i++) {
    set(8, i < 6 ? i : i < 8 ? i + 1 : size - 15 + i, bit(i));
    set(i < 8 ? size - 1 - i : i < 9 ? 7 : 14 - i, 8, bit(i));
  }
  set(8, size - 8, true);
}

function drawVersion(version: number, size: number, set: SetModule): void {
  const bits = (version << 12) | remainder(version, 12, 0x1f25);
  for (let i = 0; i < 18; i++) {
    const [near, far] = [Math.floor(i / 3), size - 11 + (i % 3)];
    set(near, far, ((bits >>> i) & 1) === 1);
    set(far, near, ((bits >>> i) & 1) === 1);
  }
}

/** Returns the remainder of `value` shifted by `degree`, divided by the polynomial. */
function remainder(value: number, degree: number, polynomial: number): number {
  let rest = value << degree;
  for (let bit = 31 - Math.clz32(rest); rest !== 0 && bit >= degree; bit = 31 - Math.clz32(rest)) {
    rest ^= polynomial << (bit - degree);
  }
  return rest;
}

/** Yields positions in columns of two from the right, alternately up and down, without the column of the timing pattern. */
function placeData(
  rows: (boolean | undefined)[][],
  size: number,
  bits: readonly boolean[],
  isFlipped: (x: number, y: number) => boolean,
): void {
  let at = 0;
  let isUp = true;
  for (let right = size - 1; right > 0; right -= 2) {
    if (right === 6) right = 5;
    for (let step = 0; step < size; step++) {
      const y = isUp ? size - 1 - step : step;
      for (const x of [right, right - 1]) {
        const row = rows[y]!;
        if (row[x] === undefined) row[x] = (bits[at++] ?? false) !== isFlipped(x, y);
      }
    }
    isUp = !isUp;
  }
}

/** Rates what makes a code hard to read: long runs, blocks, patterns like the finders, an unequal share of dark. */
function penaltyOf(rows: QrMatrix): number {
  const lines = (matrix: QrMatrix) => matrix.map((row) => row.map(Number).join(''));
  const columns = rows.map((_, x) => rows.map((row) => row[x] === true));
  let penalty = 0;
  for (const line of [...lines(rows), ...lines(columns)]) {
    for (const run of line.match(/0{5,}|1{5,}/g) ?? []) penalty += run.length - 2;
    penalty += 40 * (line.match(/(?=10111010000|00001011101)/g) ?? []).length;
  }
  for (const [y, row] of rows.slice(1).entries()) {
    for (const [x, isDark] of row.slice(1).entries()) {
      if (row[x] === isDark && rows[y]?.[x] === isDark && rows[y]?.[x + 1] === isDark) penalty += 3;
    }
  }
  const dark = rows.flat().filter(Boolean).length / rows.length ** 2;
  return penalty + 10 * Math.floor(Math.abs(dark - 0.5) * 20);
}
