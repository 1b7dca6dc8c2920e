// Evaluates a lookup of a waiting managed domain's TXT record, and schedules the next one (docs/rules.md "Preparing with
// TXT"). The result does not change the status: the domain's whole zone is answered before its delegation proves it.
//
//   not found ─ verified ─▶ found, for 14 days after each look that finds it ─ 14 days without ─▶ lapsed

import type { Look } from './next-verification.ts';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
/** How long a found record counts. */
export const TXT_COUNTS_MS = 14 * DAY_MS;
/**
 * Minutes until the next lookup after each one that found nothing. They grow longer than those of external mode: the offer
 * is optional, and each lookup queries another operator's servers.
 */
const RETRY_MINUTES = [1, 2, 5, 10, 30, 60, 120, 240];
const LAST_RETRY_MINUTES = 360;
const JITTER = 0.2;

/** Times are milliseconds since 1970. */
export interface PreparationState {
  /** When the expected value expires. */
  readonly expiresAt: number;
  readonly attempts: number;
  /** When the record was last found. Undefined if it was never found or has lapsed. */
  readonly foundAt: number | undefined;
}

export interface Preparation {
  readonly foundAt: number | undefined;
  /** `found` and `lapsed` may change how the name is answered. */
  readonly turns: 'found' | 'lapsed' | undefined;
  readonly attempts: number;
  /** When the next action is scheduled. Undefined if none is: the owner may request a new value. */
  readonly nextAt: number | undefined;
}

/** `random` is in [0, 1). */
export function nextPreparation(
  { expiresAt, attempts, foundAt: before }: PreparationState,
  look: Look,
  at: number,
  random: number,
): Preparation {
  const isFound = look.kind !== 'expired' && look.verdict === 'verified';
  const counted = before !== undefined && at - before < TXT_COUNTS_MS;
  const foundAt = isFound ? at : counted ? before : undefined;
  const turns =
    isFound && !counted ? 'found' : before !== undefined && foundAt === undefined ? 'lapsed' : undefined;
  const made = isFound || look.kind === 'asked' ? 0 : look.kind === 'expired' ? attempts : attempts + 1;
  const retryMs = isFound ? DAY_MS : (RETRY_MINUTES[made] ?? LAST_RETRY_MINUTES) * MINUTE_MS;
  const lookAt = at + Math.round(retryMs * (1 - JITTER + 2 * JITTER * random));
  const lapsesAt = foundAt === undefined ? undefined : foundAt + TXT_COUNTS_MS;
  const isLooked = look.kind !== 'expired' && lookAt < expiresAt;
  return {
    foundAt,
    turns,
    attempts: made,
    nextAt: isLooked ? Math.min(lookAt, lapsesAt ?? lookAt) : lapsesAt,
  };
}
