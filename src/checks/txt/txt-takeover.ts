// Decides when a name in external mode passes to another account (docs/rules.md "Takeovers"): in two checks at least ten
// minutes apart, the servers have the other account's value, and no server has the holder's.

import { takeoverWaitMs } from '../claims/takeover.ts';
import type { TxtEvidence } from './txt-evidence.ts';
import type { TxtVerdict } from './txt-judgement.ts';

const SECOND_LOOK_MS = 600_000;
/** Time until the next check while the holder's record also exists. */
const HELD_RETRY_MS = 3_600_000;

export interface TxtHolding {
  /** First check of the current series that saw the claim's value and not the holder's. */
  readonly since: number | undefined;
  /** When the name changed hands within the last day. */
  readonly takeovers: readonly number[];
  /** True if the breaker holds takeovers. */
  readonly isFrozen: boolean;
  /** True if the holder's value was seen. */
  readonly isHeld: boolean;
}

export type TxtTakeover =
  | { readonly kind: 'held'; readonly nextAt: number }
  /** Wait for another check at `nextAt`. */
  | { readonly kind: 'seen'; readonly since: number; readonly nextAt: number }
  | { readonly kind: 'taken' };

/** Evaluates a check, ended at `at`, that found the claim's value at every server that responds. */
export function nextTxtTakeover({ since, takeovers, isFrozen, isHeld }: TxtHolding, at: number): TxtTakeover {
  if (isHeld) return { kind: 'held', nextAt: at + HELD_RETRY_MS };
  const first = since === undefined || since > at ? at : since;
  const waitMs = takeoverWaitMs(takeovers, SECOND_LOOK_MS);
  if (since !== undefined && at - first >= waitMs && !isFrozen) return { kind: 'taken' };
  return { kind: 'seen', since: first, nextAt: Math.max(at + SECOND_LOOK_MS, first + waitMs) };
}

/** Returns what remains of a first check after a check without the claim's value. An inconclusive check changes nothing. */
export function sinceAfter(since: number | undefined, verdict: TxtVerdict): number | undefined {
  return verdict === 'unknown' ? since : undefined;
}

/** True if any server has the value in any reply. A value that appears only sometimes still exists. */
export function isThere({ links }: TxtEvidence, value: string): boolean {
  const wanted = Buffer.from(value, 'utf8');
  return links.some(({ servers, again }) =>
    [...servers, ...again].some(({ values }) => values.some((octets) => wanted.equals(octets))),
  );
}
