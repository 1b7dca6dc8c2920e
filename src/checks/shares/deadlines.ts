// Time limits of a check that a call waits for, and the part of them left for remote observers. A call must not end with a
// 503 while its check still waits for a silent observer.

/** How long an `ns-check` call waits. */
export const MANUAL_WAIT_MS = 25_000;
/** Time until a worker begins the check, and from its end until the call has read the stored result. */
const AROUND_CHECK_MS = 5_000;
/** Time limit for observers if no call waits. */
const OBSERVERS_MS = 30_000;
/** Observers usually take a second. A check itself ends within 15 s, so at least this much is always left. */
const LEAST_MS = 5_000;

/**
 * Returns the time limit for observers after a local check that took `checkMs`. The shorter limit does not help attackers:
 * anyone who can slow an observer down can also silence it.
 */
export function observersDeadlineMs(checkMs: number, { isAwaited }: { readonly isAwaited: boolean }): number {
  if (!isAwaited) return OBSERVERS_MS;
  return Math.max(LEAST_MS, MANUAL_WAIT_MS - AROUND_CHECK_MS - Math.max(0, checkMs));
}
