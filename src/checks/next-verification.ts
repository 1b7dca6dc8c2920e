// What a look for a challenge's TXT record does to its domain, and when the next one is due (spec §5, §8). A record that
// was found makes it active; time alone ends it, when it was found often enough that there is none, or can no longer be.
//
//   unverified ─ verified ─▶ active
//       └ UNVERIFIED_MAX over, and not there; or its value expired, so that nobody looks any more ─▶ disabled

import type { TxtVerdict } from './judge-txt.ts';

const MINUTE_MS = 60_000;
/** After a look that found nothing; from the last one on, every hour. */
const RETRY_MINUTES = [1, 2, 5, 10, 30];
const LAST_RETRY_MINUTES = 60;
const JITTER = 0.2;

/** Times in milliseconds since 1970. */
export interface VerificationState {
  /** Since when it is unverified: a fresh value does not begin it again. */
  readonly startedAt: number;
  /** Of the value that is looked for. */
  readonly expiresAt: number;
  /** Looks by the schedule, since the value was made or since somebody last asked. */
  readonly attempts: number;
}

export type Look =
  /** `asked`: the schedule begins again, since whoever asks has just published the record. */
  | { readonly kind: 'scheduled' | 'asked'; readonly verdict: TxtVerdict }
  /** Nobody looked: the value has expired. */
  | { readonly kind: 'expired' };

export interface VerificationDecision {
  readonly to: 'unverified' | 'active' | 'disabled';
  readonly attempts: number;
  /** Undefined where nothing is left to be done. */
  readonly nextAt: number | undefined;
}

/** `random` in [0, 1). */
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
  // Once its value has expired there is nothing to look for: what is left is its end.
  return {
    to: 'unverified',
    attempts: made,
    nextAt: nextAt < expiresAt ? nextAt : Math.max(expiresAt, endsAt),
  };
}
