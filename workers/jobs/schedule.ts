// Brings due domains into the queue, as many as it has room for, and those of accounts that have used little also when it
// is full. Any number of processes may do so: a claim moves the domain's time, so that no two get it, and a domain whose
// job is lost is due again when the lease is over.

import { dueTurn } from '../../src/checks/shares/turns.ts';
import { FULLEST, LIGHT_AT_ONCE, roomLeft } from '../../src/jobs/fill-queue.ts';
import type { QueueDepth } from '../../src/jobs/job-queue.ts';
import { backgroundChecks, type CheckJob } from '../../src/jobs/jobs.ts';
import { type Rounds, runRounds } from '../../src/jobs/run-rounds.ts';
import { type ClaimPlace, claimDueDomains } from '../../src/store/checks/claim-due-domains.ts';
import { type AskedNames, takeAskedNames } from '../../src/store/checks/take-asked-names.ts';
import type { Database } from '../../src/store/postgres/database.ts';

export interface ScheduleOptions {
  readonly db: Database;
  readonly queue: {
    depth(): Promise<QueueDepth>;
    enqueue(jobs: readonly CheckJob[]): Promise<void>;
  };
  /** How many jobs may wait in the queue. */
  readonly room: number;
  readonly onTrouble: (error: unknown) => void;
  /** Told what nodes reported as asked for. */
  readonly onAsked?: (asked: AskedNames) => void;
  readonly leaseSeconds?: number;
  readonly idleMs?: number;
}

/** Longer than a job waits in a full queue, so that no domain is claimed again before its turn. */
const LEASE_SECONDS = 120;
const IDLE_MS = 500;
const MOST_AT_ONCE = 500;
/**
 * The most domains of one account and parent in a round, while many have due domains: questions to a parent's addresses are
 * limited, and workers would wait for those if the queue held only one parent's domains.
 */
const LEAST_PER_PARENT = 20;

export function runSchedule(options: ScheduleOptions): Rounds {
  const { idleMs = IDLE_MS, onTrouble } = options;
  let place: Place = { after: undefined, perParent: LEAST_PER_PARENT };
  const round = async () => {
    await takeAsked(options);
    const { next, isMore } = await fill(options, place);
    place = next;
    return { isMore };
  };
  return runRounds({ round, idleMs, onTrouble });
}

/** Where the next round continues. */
interface Place {
  readonly after: ClaimPlace | undefined;
  readonly perParent: number;
}

/** Makes the checks of names due that clients ask for. Others wait for no trouble with that. */
async function takeAsked({ db, onAsked, onTrouble }: ScheduleOptions): Promise<void> {
  try {
    const asked = await takeAskedNames(db);
    onAsked?.(asked);
  } catch (error) {
    onTrouble(error);
  }
}

async function fill(
  { db, queue, room, leaseSeconds = LEASE_SECONDS }: ScheduleOptions,
  place: Place,
): Promise<{ next: Place; isMore: boolean }> {
  const depth = await queue.depth();
  const left = Math.min(roomLeft(depth, room), MOST_AT_ONCE);
  const lightOnly = left === 0;
  if (lightOnly && depth.waiting >= FULLEST * room) return { next: place, isMore: true };
  const limit = lightOnly ? LIGHT_AT_ONCE : left;
  const perParent = Math.min(place.perParent, limit);
  const claimed = await claimDueDomains(db, {
    limit,
    perParent,
    after: place.after,
    leaseSeconds,
    lightOnly,
  });
  const jobs = backgroundChecks(
    claimed.domains.map(({ id }) => id),
    claimed.domains.map(dueTurn),
  );
  await queue.enqueue(jobs);
  const isMore = lightOnly || jobs.length >= perParent;
  // With few parents, a round may leave due domains behind: the next round takes more of each parent.
  const hasRoom = isMore && !lightOnly && jobs.length < limit;
  return {
    next: { after: claimed.after, perParent: hasRoom ? 2 * perParent : LEAST_PER_PARENT },
    isMore,
  };
}
