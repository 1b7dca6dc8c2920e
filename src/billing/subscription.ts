// The life of a subscription: what becomes of it next, as of a time. Steps bear their own time, so that a round that
// comes late leaves the same history (docs/rules.md "Plans").

const DAY_MS = 86_400_000;
export const GRACE_DAYS = 7;
/** The wallet is first asked so long before the end. */
const RENEWAL_DAYS = 3;

export type SubscriptionStatus = 'active' | 'grace' | 'cancelled' | 'expired';

/** How long a subscription lasts, and for how much. A term is never changed. */
export interface Term {
  readonly id: number;
  readonly days: number;
  readonly priceRials: number;
}

export interface SubscriptionState {
  readonly status: SubscriptionStatus;
  readonly term: Term | null;
  /** Null: it has no end. */
  readonly expiresAt: Date | null;
  readonly graceUntil: Date | null;
  /** When it stopped to be the domain's; null: it is. */
  readonly endedAt: Date | null;
  readonly autoRenew: boolean;
  readonly isTrial: boolean;
  /** When the wallet was last asked for the renewal that is next. */
  readonly chargeTriedAt: Date | null;
}

type Step =
  /** Nothing before `dueAt`; null: never. */
  | { readonly kind: 'wait'; readonly dueAt: Date | null }
  | { readonly kind: 'become'; readonly next: SubscriptionState }
  /** The wallet decides. */
  | {
      readonly kind: 'charge';
      readonly priceRials: number;
      readonly paid: SubscriptionState;
      readonly unpaid: SubscriptionState;
    }
  /** It is over, and the domain has a new one on `free` from its end on. */
  | { readonly kind: 'end'; readonly next: SubscriptionState; readonly endedAt: Date };

/** A subscription that begins. With a term it lasts as long as that, and is renewed. */
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

/** The one next step that is due at this time. Apply it and ask again, until it is to wait. */
export function nextSubscription(now: SubscriptionState, at: Date): Step {
  const { status, expiresAt, graceUntil, isTrial } = now;
  if (now.endedAt !== null || expiresAt === null) return { kind: 'wait', dueAt: null };
  if (status === 'cancelled') return at < expiresAt ? wait(expiresAt) : finish(now, 'cancelled', expiresAt);
  if (isTrial) return at < expiresAt ? wait(expiresAt) : finish(now, 'expired', expiresAt);
  // Before anything that only time does: who was not asked in time, since no worker ran, is asked now.
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
 * When the next try is: 3 days before the end (a shorter term: when it began), at the end, and each day of grace. Tries
 * that were missed are one. Undefined: there is none.
 */
function nextRenewal({ term, autoRenew, chargeTriedAt }: SubscriptionState, end: Date): Date | undefined {
  if (term === null || !autoRenew) return undefined;
  const first = addDays(end, -Math.min(RENEWAL_DAYS, term.days));
  if (chargeTriedAt === null || chargeTriedAt < first) return first;
  const days = Math.max(0, Math.floor((chargeTriedAt.getTime() - end.getTime()) / DAY_MS) + 1);
  return days < GRACE_DAYS ? addDays(end, days) : undefined;
}

/** The new term follows the old end; if that is a whole grace ago it begins now, since nobody pays for past time. */
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
