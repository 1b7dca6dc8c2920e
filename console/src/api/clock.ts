// What time it is for the server: the clock of the person's machine may be wrong, and then "2 minutes ago" would be, too.

import { signal } from '@preact/signals';

/** The `Date` of an answer is a whole second, and takes a while to come. */
const IGNORED_MS = 60_000;

/** How far this clock is behind that of the server, in milliseconds. */
const behindMs = signal(0);

/** `date`: the header of an answer that was made now. */
export function noteServerDate(date: string | null): void {
  const apartMs = Date.parse(date ?? '') - Date.now();
  if (Number.isNaN(apartMs)) return;
  const isApart = Math.abs(apartMs) > IGNORED_MS;
  // While both clocks go, it stays as it is.
  if (Math.abs((isApart ? apartMs : 0) - behindMs.peek()) > IGNORED_MS / 2)
    behindMs.value = isApart ? apartMs : 0;
}

/** Since 1970, in milliseconds. */
export function serverNowMs(): number {
  return Date.now() + behindMs.value;
}
