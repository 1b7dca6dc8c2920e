// One round of bringing due work into its queue, as far as it has room. A claim moves the time at which the work is
// due, so that no two processes take it, and work that is lost is due again.

import { dueTurn } from '../checks/shares/turns.ts';
import type { ClaimedInTurns, DueClaim } from '../store/checks/check-shares.ts';
import type { QueueDepth } from './job-queue.ts';

type Claim<J> = (limit: number) => Promise<J[]>;

export interface FillOptions<J> {
  readonly queue: { depth(): Promise<QueueDepth>; enqueue(jobs: readonly J[]): Promise<void> };
  /** How many jobs may wait in the queue. */
  readonly room: number;
  readonly claim: (limit: number) => Promise<readonly J[]>;
  /** The same for accounts that have used little, while the queue is full. */
  readonly claimLight?: ((limit: number) => Promise<readonly J[]>) | undefined;
}

/** How many jobs of light accounts a round takes while the queue is full, and how full it may get by them. */
export const LIGHT_AT_ONCE = 20;
export const FULLEST = 20;

/** The least share of the room that is worth a claim, which costs the same for one job as for many. */
const LEAST_SHARE = 0.25;

/** How many jobs the queue takes now; 0 while a claim is not worth it. */
export function roomLeft({ waiting, delayed }: QueueDepth, room: number): number {
  const left = room - waiting - delayed;
  return left < room * LEAST_SHARE ? 0 : left;
}

/** Makes a round for `runRounds`. */
export function fillQueue<J>({
  queue,
  room,
  claim,
  claimLight,
}: FillOptions<J>): () => Promise<{ isMore: boolean }> {
  return async () => {
    const depth = await queue.depth();
    const limit = roomLeft(depth, room);
    if (limit === 0) {
      const light = depth.waiting < FULLEST * room ? ((await claimLight?.(LIGHT_AT_ONCE)) ?? []) : [];
      if (light.length > 0) await queue.enqueue(light);
      return { isMore: true };
    }
    const jobs = await claim(limit);
    if (jobs.length > 0) await queue.enqueue(jobs);
    return { isMore: jobs.length >= limit };
  };
}

/** The claims of work whose accounts take turns: of all accounts, and of those that have used little. */
export function accountsInTurn<J>(
  claimDue: (claim: DueClaim) => Promise<ClaimedInTurns>,
  jobOf: (id: number, turn: number) => J,
): [claim: Claim<J>, claimLight: Claim<J>] {
  let after: number | undefined;
  const claim = async (limit: number, lightOnly: boolean): Promise<J[]> => {
    const claimed = await claimDue({ limit, after, lightOnly });
    after = claimed.after;
    return claimed.rows.map(({ id, slotMs }) => jobOf(id, dueTurn({ slotMs, isFirst: false })));
  };
  return [(limit) => claim(limit, false), (limit) => claim(limit, true)];
}
