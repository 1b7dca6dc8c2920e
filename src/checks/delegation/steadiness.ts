// Counts how often the parent's delegation of a name changed within a day. This is advice: no status depends on it.

import { createHash } from 'node:crypto';
import type { Name } from '../../dns/name.ts';

const DAY_MS = 86_400_000;
/** Maximum number of changes kept. An owner can change the delegation as often as it is checked. */
const MOST_CHANGES = 32;
/** Minimum number of changes for a finding. Moving a domain and reverting the move makes two. */
const UNSTEADY_CHANGES = 3;

export interface Steadiness {
  /** First four octets of a hash of the NS set in the newest confirmed check. */
  readonly seen: number;
  /**
   * When a confirmed check saw a different set than the previous one, within the last day. In milliseconds since
   * 1970.
   */
  readonly changedAt: readonly number[];
}

/** Ignores unconfirmed checks, because some of a parent's servers are outdated for minutes after each change. */
export function nextSteadiness(
  before: Steadiness | undefined,
  { confirmed, observed }: { readonly confirmed: boolean; readonly observed: readonly Name[] | undefined },
  at: number,
): Steadiness | undefined {
  const changedAt = (before?.changedAt ?? []).filter((time) => time <= at && at - time < DAY_MS);
  if (!confirmed || observed === undefined) return before && { seen: before.seen, changedAt };
  const seen = hashOf(observed);
  if (before === undefined || before.seen === seen) return { seen, changedAt };
  return { seen, changedAt: [...changedAt, at].slice(-MOST_CHANGES) };
}

/** Returns the number of changes to report, or undefined if there were too few. `isMore`: there may have been more. */
export function unsteadyChanges(
  steadiness: Steadiness | undefined,
): { readonly count: number; readonly isMore: boolean } | undefined {
  const count = steadiness?.changedAt.length ?? 0;
  return count < UNSTEADY_CHANGES ? undefined : { count, isMore: count >= MOST_CHANGES };
}

function hashOf(names: readonly Name[]): number {
  return createHash('sha256')
    .update([...names].sort().join(' '))
    .digest()
    .readInt32BE(0);
}
