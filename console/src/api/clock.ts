// The server's time, because the clock of the person's machine may be wrong and "2 minutes ago" with it.

import { signal } from '@preact/signals';

/** Smaller differences are ignored: the `Date` header has a resolution of one second, and responses take time to arrive. */
const IGNORED_MS = 60_000;

/** How far the local clock is behind the server's, in milliseconds. */
const behindMs = signal(0);

/** `date` is the `Date` header of a response that has just arrived. */
export function noteServerDate(date: string | null): void {
  const apartMs = Date.parse(date ?? '') - Date.now();
  if (Number.isNaN(apartMs)) return;
  const isApart = Math.abs(apartMs) > IGNORED_MS;
  // Keeps the offset constant while both clocks run normally.
  if (Math.abs((isApart ? apartMs : 0) - behindMs.peek()) > IGNORED_MS / 2)
    behindMs.value = isApart ? apartMs : 0;
}

/** Milliseconds since 1970. */
export function serverNowMs(): number {
  return Date.now() + behindMs.value;
}
