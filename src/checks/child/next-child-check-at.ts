// Schedules the next child check: once a week for an active domain, once a day for others, if nothing changes.

const DAY_MS = 86_400_000;
/** Each interval varies by up to a fifth, to spread a fleet's checks. */
const SPREAD = 0.4;

/** `random` is in [0, 1). */
export function nextChildCheckAt(at: number, isActive: boolean, random: number): number {
  return at + Math.round((isActive ? 7 : 1) * DAY_MS * (1 - SPREAD / 2 + SPREAD * random));
}
