// Orders checks, verifications and scans. The account that has recently used the least slot time goes first, so that an
// account with a hundred thousand domains under silent parents delays only itself (docs/rules.md "Fair shares").

/**
 * An account's use decays by a factor of e in this time, so that no history is stored. About a third of the use of a minute
 * ago counts.
 */
export const FADE_MS = 60_000;

/** An account that has used less than this is light: its checks go before those of all others. */
export const LIGHT_SLOT_MS = 2000;
/** Number of checks per minute that an account's users may request ahead of all other checks. */
const MANUAL_AHEAD = 5;
/** Number of checks that they may request at all. More would fill the queue. */
export const MOST_MANUAL = 100;

/** An account's scans above this number run in any order. */
export const MOST_SCANS = 1000;

/** Jobs run in ascending order of these numbers. Jobs with equal numbers run in order of arrival. */
const TURN = {
  manual: 1,
  lightFirst: 2,
  light: 4,
  first: 6,
  manyManual: 8,
  other: 10,
} as const;

/**
 * Returns the priority of a check requested by a user. `manual`: the number that the account's users requested recently,
 * without this one.
 */
export function manualTurn({ manual }: { readonly manual: number }): number {
  return manual < MANUAL_AHEAD ? TURN.manual : TURN.manyManual;
}

/**
 * Returns the priority of a scan. An account's first scan goes before the second scans of all others. `inHand`: the
 * account's waiting and running scans. `isAsked`: a user waits for it.
 */
export function scanTurn({
  inHand,
  isAsked,
}: {
  readonly inHand: number;
  readonly isAsked: boolean;
}): number {
  return Math.max(1, 2 * Math.min(inHand, MOST_SCANS) - (isAsked ? 1 : 0));
}

/** Returns the priority of a scheduled check. `slotMs`: recent use of the account. `isFirst`: the domain was never checked. */
export function dueTurn({ slotMs, isFirst }: { readonly slotMs: number; readonly isFirst: boolean }): number {
  if (slotMs < LIGHT_SLOT_MS) return isFirst ? TURN.lightFirst : TURN.light;
  return isFirst ? TURN.first : TURN.other;
}
