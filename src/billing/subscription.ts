// Life cycle of a subscription: determines its next step at a given time. Steps have their own time, so that a late worker
// produces the same history (docs/rules.md "Plans").

const DAY_MS = 86_400_000;
export const GRACE_DAYS = 7;
/** Days before the end at which the wallet is first charged. */
const RENEWAL_DAYS = 3;

export type SubscriptionStatus = 'active' | 'grace' | 'cancelled' | 'expired';

/** Duration and price of a subscription. A term never changes. */
export interface Term {
  readonly id: number;
  readonly days: number;
  readonly priceRials: number;
}

export interface SubscriptionState {
  readonly status: SubscriptionStatus;
  readonly term: Term | null;
  /** Null if it has no end. */
  readonly expiresAt: Date | null;
  readonly graceUntil: Date | null;
  /** When it stopped being the domain's subscription. Null if it still is. */
  readonly endedAt: Date | null;
  readonly autoRenew: boolean;
  readonly isTrial: boolean;
  /** When the next renewal was last attempted. */
  readonly chargeTriedAt: Date | null;
}

type Step =
  /** Nothing happens before `dueAt`. Null means never. */
  | { readonly kind: 'wait'; readonly dueAt: Date | null }
  | { readonly kind: 'become'; readonly next: SubscriptionState }
  /** The result depends on the wallet. */
  | {
      readonly kind: 'charge';
      readonly priceRials: number;
      readonly paid: SubscriptionState;
      readonly unpaid: SubscriptionState;
    }
  /** It has ended, and the domain has a new subscription to `free` from that time on. */
  | { readonly kind: 'end'; readonly next: SubscriptionState; readonly endedAt: Date };

/** Returns a new subscription. With a term, it has the term's duration and is renewed. */
export function beginSubscription(
  at: Date,
  term: Term | null,
  { autoRenew = term !== null }: { readonly autoRenew?: boolean } = {},
): SubscriptionState {
  return {
    status: 'active',
    term,
    expiresAt: term === null ? null : addDays(at, term.days),
    graceUntil: null,
    endedAt: null,
    autoRenew: term !== null && autoRenew,
    isTrial: false,
    chargeTriedAt: null,
  };
}

export function beginTrial(at: Date, days: number): SubscriptionState {
  return { ...beginSubscription(at, null), expiresAt: addDays(at, days), isTrial: true };
}

/** Returns the next step at this time. Apply it and call again until it is `wait`. */
export function nextSubscription(now: SubscriptionState, at: Date): Step {
  const { status, expiresAt, graceUntil, isTrial } = now;
  if (now.endedAt !== null || expiresAt === null) return { kind: 'wait', dueAt: null };
  if (status === 'cancelled') return at < expiresAt ? wait(expiresAt) : finish(now, 'cancelled', expiresAt);
  if (isTrial) return at < expiresAt ? wait(expiresAt) : finish(now, 'expired', expiresAt);
  // Renewals precede steps that depend only on time: a wallet that was not charged in time because no worker ran is charged
  // now.
  const renewAt = nextRenewal(now, expiresAt);
  if (renewAt !== undefined && renewAt <= at) return renew(now, expiresAt, at);
  const turnsAt = status === 'grace' && graceUntil !== null ? graceUntil : expiresAt;
  if (at < turnsAt) return wait(renewAt !== undefined && renewAt < turnsAt ? renewAt : turnsAt);
  if (status === 'grace') return finish(now, 'expired', turnsAt);
  return {
    kind: 'become',
    next: { ...now, status: 'grace', graceUntil: addDays(expiresAt, GRACE_DAYS) },
  };
}

function finish(now: SubscriptionState, status: SubscriptionStatus, endedAt: Date): Step {
  return { kind: 'end', next: { ...now, status, endedAt }, endedAt };
}

function wait(dueAt: Date): Step {
  return { kind: 'wait', dueAt };
}

/**
 * Returns the time of the next attempt: 3 days before the end (at the start, for a shorter term), at the end, and each day
 * of grace. Missed attempts count as one. Returns undefined if there is none.
 */
function nextRenewal({ term, autoRenew, chargeTriedAt }: SubscriptionState, end: Date): Date | undefined {
  if (term === null || !autoRenew) return undefined;
  const first = addDays(end, -Math.min(RENEWAL_DAYS, term.days));
  if (chargeTriedAt === null || chargeTriedAt < first) return first;
  const days = Math.max(0, Math.floor((chargeTriedAt.getTime() - end.getTime()) / DAY_MS) + 1);
  return days < GRACE_DAYS ? addDays(end, days) : undefined;
}

/** The new term follows the old end. If that is a whole grace period ago, it begins now, since past time is not charged. */
function renew(now: SubscriptionState, end: Date, at: Date): Step {
  const { days, priceRials } = now.term as Term;
  const from = at < addDays(end, GRACE_DAYS) ? end : at;
  const paid: SubscriptionState = {
    ...now,
    status: 'active',
    expiresAt: addDays(from, days),
    graceUntil: null,
    chargeTriedAt: null,
  };
  if (priceRials === 0) return { kind: 'become', next: paid };
  return { kind: 'charge', priceRials, paid, unpaid: { ...now, chargeTriedAt: at } };
}

export function addDays(at: Date, days: number): Date {
  return new Date(at.getTime() + days * DAY_MS);
}
