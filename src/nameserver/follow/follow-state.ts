// The state of following the feed. The main thread reads it too, so this module does not load the code that follows.

import { REJECTED_MS } from '../../store/postgres/rejection.ts';
import type { WriteFailures } from '../snapshot/write-failures.ts';
import type { PublishDelays } from './publish-delays.ts';

export const PRIMARY_POLL_MS = 1000;

export interface FollowState {
  /** True if all zones were loaded once, and the position in the feed is known. */
  loaded: boolean;
  /** True if the feed was read to its end since the start. */
  isCurrent: boolean;
  connected: boolean;
  /** Number of the newest applied change. */
  position: number | undefined;
  /** Seconds since the feed was last read to its end; 0 at the usual pace. */
  lagSeconds: number | undefined;
  /** Time at which the feed was last read to its end (`Date.now`). */
  caughtUpAtMs: number | undefined;
  epoch: string | undefined;
  zones: number;
  records: number;
  /** Zones whose newest content cannot be built. */
  refused: number;
  /** Zones whose newest content does not fit into the image. */
  withoutRoom: number;
  held: { id: string; since: Date; zones: number } | undefined;
  /** Number of unproven zones that received queries, reported or dropped. */
  asked: { reported: number; dropped: number };
  /** Answers counted by zone: reported, not attributed to a zone, dropped. */
  counted: { reported: number; other: number; dropped: number };
  /** How long changes took from their transaction to the image. */
  publishDelays: PublishDelays;
  /** Failed writes of the snapshot. */
  writeFailures: WriteFailures;
  /** Time since which Postgres has rejected the node's password (`Date.now`). Undefined if it accepted the last one. */
  rejectedSinceMs: number | undefined;
  /** Reason why the last read of the feed failed. Undefined if it succeeded. */
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

/** Returns the seconds since the feed was last read to its end; the usual pause between two reads counts as 0. */
export function lagSecondsSince(caughtUpAtMs: number | undefined, nowMs: number): number | undefined {
  if (caughtUpAtMs === undefined) return undefined;
  const ageMs = nowMs - caughtUpAtMs;
  return ageMs <= 2 * PRIMARY_POLL_MS ? 0 : ageMs / 1000;
}
