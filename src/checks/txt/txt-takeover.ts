// How a name in external mode passes from the account that proved it by TXT to another one (docs/rules.md "Takeovers"): the
// servers have the other value, and nowhere the holder's, in two looks at least ten minutes apart.

import { takeoverWaitMs } from '../claims/takeover.ts';
import type { TxtEvidence } from './txt-evidence.ts';
import type { TxtVerdict } from './txt-judgement.ts';

const SECOND_LOOK_MS = 600_000;
/** How long until the next look while the holder's record is there too. */
const HELD_RETRY_MS = 3_600_000;

export interface TxtHolding {
  /** When the first look in a row was that saw the claim's value and not the holder's. */
  readonly since: number | undefined;
  /** When the name changed hands within a day. */
  readonly takeovers: readonly number[];
  /** The breaker holds takeovers. */
  readonly isFrozen: boolean;
  /** The holder's value was seen. */
  readonly isHeld: boolean;
}

export type TxtTakeover =
  | { readonly kind: 'held'; readonly nextAt: number }
  /** Wait for another look, at `nextAt`. */
  | { readonly kind: 'seen'; readonly since: number; readonly nextAt: number }
  | { readonly kind: 'taken' };

/** What a look means that found the claim's value at every server that responds, `at` its end. */
export function nextTxtTakeover({ since, takeovers, isFrozen, isHeld }: TxtHolding, at: number): TxtTakeover {
  if (isHeld) return { kind: 'held', nextAt: at + HELD_RETRY_MS };
  const first = since === undefined || since > at ? at : since;
  const waitMs = takeoverWaitMs(takeovers, SECOND_LOOK_MS);
  if (since !== undefined && at - first >= waitMs && !isFrozen) return { kind: 'taken' };
  return { kind: 'seen', since: first, nextAt: Math.max(at + SECOND_LOOK_MS, first + waitMs) };
}

/** What is left of a first look after one that did not find the claim's value: what said nothing takes nothing away. */
export function sinceAfter(since: number | undefined, verdict: TxtVerdict): number | undefined {
  return verdict === 'unknown' ? since : undefined;
}

/** Whether any server has the value in any reply: one that has it now and then has not lost it. */
export function isThere({ links }: TxtEvidence, value: string): boolean {
  const wanted = Buffer.from(value, 'utf8');
  return links.some(({ servers, again }) =>
    [...servers, ...again].some(({ values }) => values.some((octets) => wanted.equals(octets))),
  );
}
