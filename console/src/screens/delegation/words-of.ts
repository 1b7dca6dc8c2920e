// Formats durations and times.

import { words } from '../../words/words.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `42 min`, `3 days`: a duration in its largest unit, rounded up. */
export function duration(seconds: number): string {
  const [unit, size] =
    seconds < 2 * MINUTE
      ? (['second', 1] as const)
      : seconds < 2 * HOUR
        ? (['minute', MINUTE] as const)
        : seconds < 2 * DAY
          ? (['hour', HOUR] as const)
          : (['day', DAY] as const);
  return new Intl.NumberFormat(words.locale, { style: 'unit', unit, unitDisplay: 'long' }).format(
    Math.ceil(seconds / size),
  );
}

/** `12:04`: the remaining time. */
export function countdown(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds));
  return `${Math.floor(whole / MINUTE)}:${String(whole % MINUTE).padStart(2, '0')}`;
}
