// Decides when failed sign-ins lead to a block, and for how long.

import type { Failures } from '../../store/people/sign-in-attempts.ts';

export interface FailureRule {
  /** Number of failures in a window that lead to a block. */
  readonly limit: number;
  readonly windowMs: number;
  /** If true, each block is twice as long as the previous one. */
  readonly grows: boolean;
}

const MINUTE_MS = 60_000;
const MOST_BLOCK_MS = 24 * 60 * MINUTE_MS;

/** For one network, browser or session, and for the codes of one account. */
export const CLOSE_RULE: FailureRule = { limit: 10, windowMs: 15 * MINUTE_MS, grows: true };
/**
 * For codes of the identity provider, from one network. Codes cannot be guessed, so the rule only limits the requests to
 * the provider, and the block must be short for other people in the network.
 */
export const PROVIDER_RULE: FailureRule = { limit: 30, windowMs: MINUTE_MS, grows: false };
/** For one email address, from all networks. The block must be short for the owner's sake. */
export const EMAIL_RULE: FailureRule = { limit: 100, windowMs: 60 * MINUTE_MS, grows: false };
/** For mails to one address. */
export const MAIL_RULE: FailureRule = { limit: 3, windowMs: 60 * MINUTE_MS, grows: false };

export function afterFailure(before: Failures, now: Date, { limit, windowMs, grows }: FailureRule): Failures {
  const nowMs = now.getTime();
  // If a window ends later than one that starts now, the clock was set back. The window then continues.
  const isOver = before.windowEndsAt.getTime() <= nowMs;
  const count = isOver ? 1 : before.count + 1;
  const windowEndsAt = isOver ? new Date(nowMs + windowMs) : before.windowEndsAt;
  if (count < limit) return { ...before, count, windowEndsAt };
  const blockMs = grows
    ? Math.min(MOST_BLOCK_MS, windowMs * 2 ** before.blocks)
    : windowEndsAt.getTime() - nowMs;
  return { count: 0, windowEndsAt: now, blocks: before.blocks + 1, blockedUntil: new Date(nowMs + blockMs) };
}

/** Returns seconds to wait, or undefined. `underWay` is the number of attempts with an unknown outcome. */
export function secondsToWait(
  state: Failures | undefined,
  now: Date,
  { limit }: FailureRule,
  underWay: number,
): number | undefined {
  const nowMs = now.getTime();
  const blockedMs = (state?.blockedUntil?.getTime() ?? 0) - nowMs;
  if (blockedMs > 0) return Math.ceil(blockedMs / 1000);
  const count = state !== undefined && state.windowEndsAt.getTime() > nowMs ? state.count : 0;
  return count + underWay >= limit ? 1 : undefined;
}
