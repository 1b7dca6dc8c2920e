// Counts how often the parent's delegation of a name changed within a day. It is advice: no status depends on it.

import { createHash } from 'node:crypto';
import type { Name } from '../../dns/name.ts';

const DAY_MS = 86_400_000;
/** So many times are remembered: an owner can change the delegation as often as it is checked. */
const MOST_CHANGES = 32;
/** From so many on the owner is told: who moves a domain, and back, made two. */
const UNSTEADY_CHANGES = 3;

export interface Steadiness {
  /** Four octets of a hash of the NS set that the newest confirmed check saw. */
  readonly seen: number;
  /** When a confirmed check saw another set than the one before, within a day; in milliseconds since 1970. */
  readonly changedAt: readonly number[];
}

/** A check that is not confirmed says nothing: some servers of a parent are behind for minutes after each change. */
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

/** How many changes the owner is told of; undefined: too few. `isMore`: perhaps there were more. */
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
