// Moves due domains into the queue, as far as it has room, and those of light accounts even if it is full. Any number
// of processes may do this: a claim postpones the domain's due time, so that no two processes claim it, and a domain
// whose job is lost is due again when the lease ends.

import { dueTurn } from '../../src/checks/shares/turns.ts';
import { FULLEST, LIGHT_AT_ONCE, roomLeft } from '../../src/jobs/fill-queue.ts';
import type { QueueDepth } from '../../src/jobs/job-queue.ts';
import { backgroundChecks, CHECK_GROUP, type CheckJob, groupChecks } from '../../src/jobs/jobs.ts';
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
  /** Maximum number of domains that wait in the queue. Each waiting job counts as if it had all domains of a group. */
  readonly room: number;
  readonly onTrouble: (error: unknown) => void;
  /** Called with the names that nodes reported because they received queries for them. */
  readonly onAsked?: (asked: AskedNames) => void;
  readonly leaseSeconds?: number;
  readonly idleMs?: number;
}

/** Longer than a job waits in a full queue, so that no domain is claimed again before its job runs. */
const LEASE_SECONDS = 120;
const IDLE_MS = 500;
const MOST_AT_ONCE = 500;
/**
 * Maximum number of domains per account and parent in a round, if many accounts and parents have due domains. Queries
 * to a parent's addresses are limited, so workers would wait if the queue held only one parent's domains.
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

/** Position at which the next round continues. */
interface Place {
  readonly after: ClaimPlace | undefined;
  readonly perParent: number;
}

/** Makes checks of queried names due. An error here does not stop the round. */
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
  const { waiting, delayed, ...depth } = await queue.depth();
  const domains = { ...depth, waiting: waiting * CHECK_GROUP, delayed: delayed * CHECK_GROUP };
  const left = Math.min(roomLeft(domains, room), MOST_AT_ONCE);
  const lightOnly = left === 0;
  if (lightOnly && domains.waiting >= FULLEST * room) return { next: place, isMore: true };
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
  await queue.enqueue(groupChecks(jobs));
  const isMore = lightOnly || jobs.length >= perParent;
  // With few parents, a round may leave due domains behind: the next round takes more of each parent.
  const hasRoom = isMore && !lightOnly && jobs.length < limit;
  return {
    next: { after: claimed.after, perParent: hasRoom ? 2 * perParent : LEAST_PER_PARENT },
    isMore,
  };
}
