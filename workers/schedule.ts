// Brings due domains into the queue, as many as it has room for. Any number of processes may do so: a claim moves the
// domain's time, so that no two get it, and a domain whose job is lost is due again when the lease is over.

import type { QueueDepth } from '../src/queue/job-queue.ts';
import { backgroundChecks, type CheckJob } from '../src/queue/jobs.ts';
import { claimDueDomains } from '../src/store/checks/claim-due-domains.ts';
import type { Database } from '../src/store/postgres/database.ts';
import { roomLeft } from './fill-queue.ts';
import { type Rounds, runRounds } from './run-rounds.ts';

export interface ScheduleOptions {
  readonly db: Database;
  readonly queue: {
    depth(): Promise<QueueDepth>;
    enqueue(jobs: readonly CheckJob[]): Promise<void>;
  };
  /** How many jobs may wait in the queue. */
  readonly room: number;
  readonly onTrouble: (error: unknown) => void;
  readonly leaseSeconds?: number;
  readonly idleMs?: number;
}

/** Longer than a job waits in a full queue, so that no domain is claimed again before its turn. */
const LEASE_SECONDS = 120;
const IDLE_MS = 500;
const MOST_AT_ONCE = 500;
/**
 * The most domains of one parent in a round, while many parents have due domains: questions to a parent's addresses are
 * limited, and workers would wait for those if the queue held only one parent's domains.
 */
const LEAST_PER_PARENT = 20;

export function runSchedule(options: ScheduleOptions): Rounds {
  const { idleMs = IDLE_MS, onTrouble } = options;
  let place: Place = { after: '', perParent: LEAST_PER_PARENT };
  const round = async () => {
    const { next, isMore } = await fill(options, place);
    place = next;
    return { isMore };
  };
  return runRounds({ round, idleMs, onTrouble });
}

/** Where the next round continues. */
interface Place {
  readonly after: string;
  readonly perParent: number;
}

async function fill(
  { db, queue, room, leaseSeconds = LEASE_SECONDS }: ScheduleOptions,
  place: Place,
): Promise<{ next: Place; isMore: boolean }> {
  const limit = Math.min(roomLeft(await queue.depth(), room), MOST_AT_ONCE);
  if (limit === 0) return { next: place, isMore: true };
  const perParent = Math.min(place.perParent, limit);
  const claimed = await claimDueDomains(db, { limit, perParent, after: place.after, leaseSeconds });
  const ids = claimed.domains.map(({ id }) => id);
  await queue.enqueue(backgroundChecks(ids));
  const isMore = ids.length >= perParent;
  // With few parents, a round may leave due domains behind: the next round takes more of each parent.
  const hasRoom = isMore && ids.length < limit;
  return {
    next: { after: claimed.after, perParent: hasRoom ? 2 * perParent : LEAST_PER_PARENT },
    isMore,
  };
}
