// Whether a session still counts. A decision over times.

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const MOST_AGE_MS = 90 * DAY_MS;
const UNUSED_MS = 30 * DAY_MS;
const ADMIN_UNUSED_MS = 12 * HOUR_MS;
const FRESH_MS = 15 * MINUTE_MS;
/** How far clocks may differ. A time later than that was noted before the clock went back: nothing from then counts. */
const SKEW_MS = 5 * MINUTE_MS;

interface Times {
  readonly createdAt: Date;
  readonly usedAt: Date;
  readonly passwordAt: Date | null;
}

interface Rights {
  readonly isAdmin: boolean;
}

export function isSessionValid(times: Times, rights: Rights, now: Date): boolean {
  const nowMs = now.getTime();
  const newest = Math.max(times.createdAt.getTime(), times.usedAt.getTime());
  return nowMs < sessionEndsAt(times, rights).getTime() && nowMs > newest - SKEW_MS;
}

/** When it ends if it is not used before. */
export function sessionEndsAt({ createdAt, usedAt }: Times, { isAdmin }: Rights): Date {
  const unusedMs = isAdmin ? ADMIN_UNUSED_MS : UNUSED_MS;
  return new Date(Math.min(createdAt.getTime() + MOST_AGE_MS, usedAt.getTime() + unusedMs));
}

/** Whether the password was given lately enough for what needs it. */
export function isPasswordFresh({ passwordAt }: Times, now: Date): boolean {
  if (passwordAt === null) return false;
  const ageMs = now.getTime() - passwordAt.getTime();
  return ageMs < FRESH_MS && ageMs > -SKEW_MS;
}
