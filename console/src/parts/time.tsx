// Times relative to now, with the date and the exact UTC time on hover, and formatted numbers and durations.

import { signal } from '@preact/signals';
import { serverNowMs } from '../api/clock.ts';
import { words } from '../words/words.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const tick = signal(0);
setInterval(() => {
  if (!document.hidden) tick.value += 1;
}, 10 * SECOND);

/** The server's time. Components that read it are rendered again every 10 seconds, so that "2 minutes ago" stays correct. */
export const now = {
  /** Milliseconds since 1970. */
  get value(): number {
    void tick.value;
    return serverNowMs();
  },
};

/** Relative to now. Shows the date too if it is more than an hour away. */
export function Time({ at }: { readonly at: string | undefined | null }) {
  if (at === undefined || at === null) return <span class="quiet">—</span>;
  const ms = Date.parse(at);
  return (
    <time dateTime={at} title={exact(at)}>
      {relative(ms, now.value)}
      {Math.abs(ms - now.value) >= HOUR && <span class="date"> ({words.time.date(new Date(ms))})</span>}
    </time>
  );
}

/** `2026-11-28 10:52:03 UTC`. */
export function exact(at: string | number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

export function relative(atMs: number, nowMs: number): string {
  const away = atMs - nowMs;
  const size = Math.abs(away);
  if (size < 5 * SECOND) return words.time.now;
  const [unit, length] =
    size < MINUTE
      ? (['second', SECOND] as const)
      : size < HOUR
        ? (['minute', MINUTE] as const)
        : size < DAY
          ? (['hour', HOUR] as const)
          : size < 60 * DAY
            ? (['day', DAY] as const)
            : (['month', 30 * DAY] as const);
  return words.time.relative(Math.round(away / length), unit);
}

/** `1,250,000`. */
export function count(amount: number): string {
  return words.figures.grouped(amount);
}

/** `1.2m`, if there is little space. */
export function short(amount: number): string {
  return words.figures.compact(amount);
}
