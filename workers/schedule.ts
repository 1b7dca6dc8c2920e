// Brings due domains into the queue, as many as it has room for. Any number of processes may do so: a claim moves the
// domain's time, so that no two get it, and one whose job is lost comes up again when the lease is over.

import { setTimeout as pause } from 'node:timers/promises';
import type { QueueDepth } from '../src/queue/check-queue.ts';
import { claimDueDomains } from '../src/store/claim-due-domains.ts';
import type { Database } from '../src/store/database.ts';

export interface ScheduleOptions {
  readonly db: Database;
  readonly queue: {
    depth(): Promise<QueueDepth>;
    enqueueChecks(domainIds: readonly number[]): Promise<void>;
  };
  /** Jobs that may wait in the queue. */
  readonly room: number;
  readonly onTrouble: (error: unknown) => void;
  readonly leaseSeconds?: number;
  readonly idleMs?: number;
}

export interface Schedule {
  /** Resolves when the round that runs is over. */
  stop(): Promise<void>;
}

/** Longer than a job waits in a full queue, so that none is claimed again before its turn. */
const LEASE_SECONDS = 120;
const IDLE_MS = 500;
/** More may be due. */
const BUSY_MS = 50;
const LONGEST_BACKOFF_MS = 10_000;
const MOST_AT_ONCE = 500;
/** Of the room: a claim costs the same for one as for many. */
const LEAST_SHARE = 0.25;
/**
 * The most of one parent in a round, while many have domains that are due: each parent's addresses are asked only so often
 * in a second, and a queue full of one parent's domains would have the workers wait for those.
 */
const LEAST_PER_PARENT = 20;

export function runSchedule(options: ScheduleOptions): Schedule {
  const stopping = new AbortController();
  const running = loop(options, stopping.signal);
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

async function loop(options: ScheduleOptions, stopping: AbortSignal): Promise<void> {
  const { idleMs = IDLE_MS, onTrouble } = options;
  let place: Place = { after: '', perParent: LEAST_PER_PARENT };
  let failures = 0;
  while (!stopping.aborted) {
    let waitMs = idleMs;
    try {
      const round = await fill(options, place);
      place = round.next;
      if (round.isMore) waitMs = BUSY_MS;
      failures = 0;
    } catch (error) {
      failures++;
      waitMs = Math.min(idleMs * 2 ** failures, LONGEST_BACKOFF_MS);
      onTrouble(error);
    }
    await pause(waitMs, undefined, { signal: stopping }).catch(() => {});
  }
}

/** Where the next round goes on. */
interface Place {
  readonly after: string;
  readonly perParent: number;
}

async function fill(
  { db, queue, room, leaseSeconds = LEASE_SECONDS }: ScheduleOptions,
  place: Place,
): Promise<{ next: Place; isMore: boolean }> {
  const { waiting, delayed } = await queue.depth();
  const limit = Math.min(room - waiting - delayed, MOST_AT_ONCE);
  if (limit < room * LEAST_SHARE) return { next: place, isMore: true };
  const perParent = Math.min(place.perParent, limit);
  const claimed = await claimDueDomains(db, { limit, perParent, after: place.after, leaseSeconds });
  const ids = claimed.domains.map(({ id }) => id);
  await queue.enqueueChecks(ids);
  const isMore = ids.length >= perParent;
  // Few parents, and more is due of them than a round took: the next one takes more of each.
  const hasRoom = isMore && ids.length < limit;
  return {
    next: { after: claimed.after, perParent: hasRoom ? 2 * perParent : LEAST_PER_PARENT },
    isMore,
  };
}
