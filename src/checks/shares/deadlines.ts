// How long a call that asks for a check waits for the result, and how much of that is left to observers elsewhere: a call must not end
// with a 503 while its check still waits for an observer that is silent.

/** How long `ns-check` waits. */
export const MANUAL_WAIT_MS = 25_000;
/** Until a worker begins the check, and from its end until the call has seen what was saved. */
const AROUND_CHECK_MS = 5_000;
/** How long observers have, where nobody waits. */
const OBSERVERS_MS = 30_000;
/** They mostly take a second. A check itself ends within 15 s, so as much is always left. */
const LEAST_MS = 5_000;

/**
 * How long observers may take to look, after a check here that took `checkMs`. Who makes an observer slow wins nothing by the shorter time:
 * who can do that can make it silent as well.
 */
export function observersDeadlineMs(checkMs: number, { isAwaited }: { readonly isAwaited: boolean }): number {
  if (!isAwaited) return OBSERVERS_MS;
  return Math.max(LEAST_MS, MANUAL_WAIT_MS - AROUND_CHECK_MS - Math.max(0, checkMs));
}
