// Whose check, verification or scan is next. Accounts take turns: who has used the least time of the slots lately goes first, so that an account
// with a hundred thousand domains under silent parents delays nobody but itself (docs/rules.md "Fair shares"). Pure.

/**
 * What an account has used fades by e in this time, so that no history is kept: of a minute ago, about a third counts.
 */
export const FADE_MS = 60_000;

/** An account that has used less than this is light: its checks go before those of all others. */
export const LIGHT_SLOT_MS = 2000;
/** How many checks a minute an account's users may ask for ahead of everybody's other checks. */
const MANUAL_AHEAD = 5;
/** How many they may ask for at all: the queue would else be full of them. */
export const MOST_MANUAL = 100;

/** Beyond so many scans an account's come in any order. */
export const MOST_SCANS = 1000;

/** Jobs go in the order of these numbers, the lowest first; equal ones as they came. */
const TURN = {
  manual: 1,
  lightFirst: 2,
  light: 4,
  first: 6,
  manyManual: 8,
  other: 10,
} as const;

/** The turn of a check that a user asked for. `manual`: how many the account's users asked for lately, without it. */
export function manualTurn({ manual }: { readonly manual: number }): number {
  return manual < MANUAL_AHEAD ? TURN.manual : TURN.manyManual;
}

/**
 * The turn of a scan, of which an account has so many that wait or run: its first goes before the second of all others.
 * `isAsked`: somebody waits for it.
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

/** The turn of a check that is due. `slotMs`: what its account has used lately; `isFirst`: the domain was never checked. */
export function dueTurn({ slotMs, isFirst }: { readonly slotMs: number; readonly isFirst: boolean }): number {
  if (slotMs < LIGHT_SLOT_MS) return isFirst ? TURN.lightFirst : TURN.light;
  return isFirst ? TURN.first : TURN.other;
}
