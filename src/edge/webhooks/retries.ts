// When a call that failed is tried again.

const FIRST_SECONDS = 30;
const LONGEST_SECONDS = 2 * 3600;
/** A call is given up when its event is older than this. */
const TRIED_SECONDS = 24 * 3600;

interface Tried {
  /** How many times, this one included. */
  readonly attempts: number;
  /** How long ago the event was. */
  readonly ageSeconds: number;
}

/** The seconds until the next try: 30, 60, 120 … two hours; undefined: it is given up. */
export function retrySeconds({ attempts, ageSeconds }: Tried): number | undefined {
  const seconds = Math.min(FIRST_SECONDS * 2 ** Math.min(attempts - 1, 20), LONGEST_SECONDS);
  return ageSeconds + seconds > TRIED_SECONDS ? undefined : seconds;
}
