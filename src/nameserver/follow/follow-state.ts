// The state of following the feed. The main thread reads it too, so this module does not load the code that follows.

import { REJECTED_MS } from '../../store/postgres/outage.ts';
import type { WriteFailures } from '../snapshot/write-failures.ts';

export const PRIMARY_POLL_MS = 1000;

export interface FollowState {
  /** True if all zones were loaded once, and the position in the feed is known. */
  loaded: boolean;
  /** True if the feed has been read to its end since the start. */
  isCurrent: boolean;
  connected: boolean;
  /** The number of the newest change that is applied. */
  position: number | undefined;
  /** Seconds since the feed was last read to its end; 0 while that happens at its usual pace. */
  lagSeconds: number | undefined;
  /** When the feed was last read to its end, as `Date.now` gives it. */
  caughtUpAtMs: number | undefined;
  epoch: string | undefined;
  zones: number;
  records: number;
  /** Zones whose newest content cannot be built. */
  refused: number;
  /** Zones for whose newest content the image has no room. */
  withoutRoom: number;
  held: { id: string; since: Date; zones: number } | undefined;
  /** Reports of unproven zones that were asked for, and those that were dropped. */
  asked: { reported: number; dropped: number };
  /** Answers in the counts by zone: reported, those without a zone, dropped. */
  counted: { reported: number; other: number; dropped: number };
  /** Failed writes of the snapshot. */
  writeFailures: WriteFailures;
  /** Since when Postgres has rejected the node's password, as `Date.now` gives it. Undefined if it accepted the last one. */
  rejectedSinceMs: number | undefined;
  /** Why the feed could not be read the last time. Undefined if it could be read. */
  fault: string | undefined;
}

/** Returns the reason if Postgres has rejected the node for so long that its settings must be wrong. */
export function findRejection(
  state: Pick<FollowState, 'rejectedSinceMs' | 'fault'> | undefined,
  nowMs: number,
): string | undefined {
  const isLong = state?.rejectedSinceMs !== undefined && nowMs - state.rejectedSinceMs >= REJECTED_MS;
  return isLong ? state.fault : undefined;
}

/** Seconds since the feed was last read to its end; the usual pause between two reads counts as 0. */
export function lagSecondsSince(caughtUpAtMs: number | undefined, nowMs: number): number | undefined {
  if (caughtUpAtMs === undefined) return undefined;
  const ageMs = nowMs - caughtUpAtMs;
  return ageMs <= 2 * PRIMARY_POLL_MS ? 0 : ageMs / 1000;
}
