// Codes conform to the standard. Another program (jsQR) decoded the stored one, and texts of all lengths up to 213.

import { describe, expect, it } from 'vitest';
import { type QrMatrix, qrMatrix } from '../../../../console/src/parts/qr/qr-matrix.ts';

const KEPT = [
  '#######..#.##.#######',
  '#.....#...##..#.....#',
  '#.###.#.###.#.#.###.#',
  '#.###.#.###...#.###.#',
  '#.###.#.#.#.#.#.###.#',
  '#.....#.#.##..#.....#',
  '#######.#.#.#.#######',
  '........###..........',
  '#.#####....#..#####..',
  '##.#.#..##.###.#.#...',
  '...#.####.#.##...#.#.',
  '##.###..######...##.#',
  '..#.#.##.##.##....#.#',
  '........#.#.##.#.#.#.',
  '#######..###.......#.',
  '#.....#.#.#....#.###.',
  '#.###.#.#.##....#.#.#',
  '#.###.#.##.#####.##..',
  '#.###.#.#.#.#.#..##..',
  '#.....#..##########..',
  '#######.#...#.....##.',
];
/** The longest text of each version, in octets. */
const MOST_OCTETS = [14, 26, 42, 62, 84, 106, 122, 152, 180, 213];
const art = (matrix: QrMatrix | undefined) =>
  matrix?.map((row) => row.map((isDark) => (isDark ? '#' : '.')).join(''));

describe('qrMatrix', () => {
  it('matches a code of another encoder', () => expect(art(qrMatrix('ZONEFLEET'))).toEqual(KEPT));

  it('grows with the text, up to version 10', () => {
    const sizes = [14, 15, 213].map((length) => qrMatrix('x'.repeat(length))?.length);
    expect(sizes).toEqual([21, 25, 57]);
    expect(qrMatrix('x'.repeat(214))).toBeUndefined();
    expect(qrMatrix('é'.repeat(107))).toBeUndefined();
  });

  it('has finders, timing patterns and the dark module in every version', () => {
    for (const [i, length] of MOST_OCTETS.entries()) {
      const lines = art(qrMatrix('o'.repeat(length))) ?? [];
      const size = lines.length;
      expect(size).toBe(21 + 4 * i);
      expect(lines[0]).toMatch(/^#{7}\.[.#]*\.#{7}$/);
      expect(lines[size - 1]?.slice(0, 8)).toBe('#######.');
      expect(lines[3]?.slice(0, 8)).toBe('#.###.#.');
      expect(lines[6]).toMatch(/^#{7}(\.#)+\.#{7}$/);
      expect(lines[size - 8]?.[8]).toBe('#');
    }
  });
});
