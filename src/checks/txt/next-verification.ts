// Determines the effect of a TXT check on its domain, and schedules the next one (docs/rules.md "TXT verification"). A
// found record makes the domain active. The domain is disabled by time alone, once enough checks found no record or its
// value has expired.
//
//   unverified ─ verified ─▶ active
//       └ not found until UNVERIFIED_MAX; or its value expired, so workers no longer query it ─▶ disabled

import type { TxtVerdict } from './txt-judgement.ts';

const MINUTE_MS = 60_000;
/** Minutes until the next check after each one that found nothing. After the last of these, the interval is one hour. */
const RETRY_MINUTES = [1, 2, 5, 10, 30];
const LAST_RETRY_MINUTES = 60;
const JITTER = 0.2;

/** The state of a verification. Times are milliseconds since 1970. */
export interface VerificationState {
  /** When the domain became unverified. A new value does not change this. */
  readonly startedAt: number;
  /** When the expected value expires. */
  readonly expiresAt: number;
  /** Number of scheduled lookups since the value was created or since the last request. */
  readonly attempts: number;
}

export type Look =
  /** `asked` restarts the schedule, since the requesting owner has probably just published the record. */
  | { readonly kind: 'scheduled' | 'asked'; readonly verdict: TxtVerdict }
  /** No server was queried, because the value has expired. */
  | { readonly kind: 'expired' };

export interface VerificationDecision {
  readonly to: 'unverified' | 'active' | 'disabled';
  readonly attempts: number;
  /** When the next lookup is scheduled. Undefined if none is. */
  readonly nextAt: number | undefined;
}

/** `random` is in [0, 1). */
export function nextVerification(
  state: VerificationState,
  look: Look,
  at: number,
  unverifiedMaxMs: number,
  random: number,
): VerificationDecision {
  const { attempts, expiresAt, startedAt } = state;
  const endsAt = startedAt + unverifiedMaxMs;
  if (look.kind === 'expired') {
    if (at >= endsAt) return { to: 'disabled', attempts, nextAt: undefined };
    return { to: 'unverified', attempts, nextAt: endsAt };
  }
  if (look.verdict === 'verified') return { to: 'active', attempts, nextAt: undefined };
  if (look.verdict !== 'unknown' && at >= endsAt) return { to: 'disabled', attempts, nextAt: undefined };
  const made = look.kind === 'asked' ? 0 : attempts + 1;
  const retryMs = (RETRY_MINUTES[made] ?? LAST_RETRY_MINUTES) * MINUTE_MS;
  const nextAt = at + Math.round(retryMs * (1 - JITTER + 2 * JITTER * random));
  // After the value has expired there is nothing to look up: the next step is the end of UNVERIFIED_MAX.
  return {
    to: 'unverified',
    attempts: made,
    nextAt: nextAt < expiresAt ? nextAt : Math.max(expiresAt, endsAt),
  };
}
