// Formats data volumes.

import { words } from '../../words/words.ts';

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;
const STEP = 1000;

/** `1.8 GB`, with 10^9 bytes per GB as in plans. */
export function bytes(amount: number): string {
  let rest = amount;
  let place = 0;
  while (rest >= STEP && place < UNITS.length - 1) {
    rest /= STEP;
    place += 1;
  }
  return new Intl.NumberFormat(words.locale, {
    style: 'unit',
    unit: UNITS[place] ?? 'byte',
    unitDisplay: 'short',
    maximumFractionDigits: place === 0 ? 0 : 1,
  }).format(rest);
}
