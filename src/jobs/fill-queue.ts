// One round that moves due work into its queue, as far as there is room. A claim postpones the due time of the work,
// so that no two processes claim it, and lost work is due again.

import { dueTurn } from '../checks/shares/turns.ts';
import type { ClaimedInTurns, DueClaim } from '../store/checks/check-shares.ts';
import type { QueueDepth } from './job-queue.ts';

type Claim<J> = (limit: number) => Promise<J[]>;

export interface FillOptions<J> {
  readonly queue: { depth(): Promise<QueueDepth>; enqueue(jobs: readonly J[]): Promise<void> };
  /** Maximum number of jobs that wait in the queue. */
  readonly room: number;
  readonly claim: (limit: number) => Promise<readonly J[]>;
  /** Claims work of accounts that have used little, while the queue is full. */
  readonly claimLight?: ((limit: number) => Promise<readonly J[]>) | undefined;
  /** Puts up to `size` claims into one job. Each waiting job then takes the room of `size` claims. */
  readonly group?: { readonly size: number; readonly merge: (jobs: readonly J[]) => J[] };
}

/** Number of jobs of light accounts that a round adds to a full queue, and how far these may overfill it. */
export const LIGHT_AT_ONCE = 20;
export const FULLEST = 20;

/** Minimum fraction of the room that justifies a claim, which costs the same for one job as for many. */
const LEAST_SHARE = 0.25;

/** Returns the number of jobs that the queue accepts now, or 0 if a claim is not worthwhile. */
export function roomLeft({ waiting, delayed }: QueueDepth, room: number): number {
  const left = room - waiting - delayed;
  return left < room * LEAST_SHARE ? 0 : left;
}

/** Creates a round for `runRounds`. */
export function fillQueue<J>({
  queue,
  room,
  claim,
  claimLight,
  group: { size, merge } = { size: 1, merge: (jobs) => [...jobs] },
}: FillOptions<J>): () => Promise<{ isMore: boolean }> {
  return async () => {
    const { waiting, delayed, ...rest } = await queue.depth();
    const depth = { ...rest, waiting: waiting * size, delayed: delayed * size };
    const limit = roomLeft(depth, room);
    if (limit === 0) {
      const light = depth.waiting < FULLEST * room ? ((await claimLight?.(LIGHT_AT_ONCE)) ?? []) : [];
      if (light.length > 0) await queue.enqueue(merge(light));
      return { isMore: true };
    }
    const jobs = await claim(limit);
    if (jobs.length > 0) await queue.enqueue(merge(jobs));
    return { isMore: jobs.length >= limit };
  };
}

/** Returns the claims of work whose accounts take turns: of all accounts, and of accounts that have used little. */
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
