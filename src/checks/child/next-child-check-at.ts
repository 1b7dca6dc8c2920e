// When a domain's own zone is looked at again, if nothing changes: once a day, an active domain's once a week.

const DAY_MS = 86_400_000;
/** Each interval varies by up to a fifth, so that a fleet's checks spread. */
const SPREAD = 0.4;

/** `random` is a number from 0 up to, not including, 1. */
export function nextChildCheckAt(at: number, isActive: boolean, random: number): number {
  return at + Math.round((isActive ? 7 : 1) * DAY_MS * (1 - SPREAD / 2 + SPREAD * random));
}
