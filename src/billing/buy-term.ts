// Decides whether a term may be bought for a domain with a given subscription, and when the new term starts.

import { addDays, GRACE_DAYS, type SubscriptionState, type Term } from './subscription.ts';

export type BuyKind = 'purchase' | 'switch';

type Buying =
  /** Period of the new subscription. */
  | { readonly kind: 'buys'; readonly start: Date; readonly end: Date }
  | { readonly kind: 'refused'; readonly message: string };

interface BuyingOrder {
  readonly kind: BuyKind;
  readonly term: Term;
  readonly at: Date;
  /** The domain's last purchased subscription, if it has ended. */
  readonly lastPaid?: EndedSubscription | undefined;
}

/** `own`: the domain's current subscription, as of this time. */
export function judgeBuying(
  own: SubscriptionState | undefined,
  { kind, term, at, lastPaid }: BuyingOrder,
): Buying {
  const paidUntil = own === undefined ? undefined : paidUntilOf(own, at);
  if (kind === 'purchase' && paidUntil !== undefined) {
    return refused(`the domain's subscription is paid until ${paidUntil.toISOString()}: switch it instead`);
  }
  if (kind === 'switch' && paidUntil === undefined) {
    return refused('the domain has no paid subscription to switch from: purchase one instead');
  }
  if (kind === 'switch' && own?.term?.id === term.id) return refused('the domain already has this term');
  const served = isInGrace(own) ? { expiresAt: own.expiresAt, endedAt: at } : lastPaid;
  const start = startOf(served, term, at);
  if (served !== undefined && addDays(start, term.days) <= at) {
    const until = addDays(served.expiresAt, GRACE_DAYS).toISOString();
    return refused(
      `the domain was served after its paid time for longer than this term lasts: buy a longer one, renew the subscription, or wait until ${until}`,
    );
  }
  return { kind: 'buys', start, end: addDays(start, term.days) };
}

/** True if paid time is left. In that case a plan is switched instead of purchased. */
export function hasPaidTime(own: SubscriptionState | undefined, at: Date): boolean {
  return own !== undefined && paidUntilOf(own, at) !== undefined;
}

/** Returns undefined if no paid time is left. */
function paidUntilOf({ term, status, expiresAt, isTrial }: SubscriptionState, at: Date): Date | undefined {
  const isPaid = term !== null && term.priceRials > 0 && !isTrial && status !== 'grace';
  return isPaid && expiresAt !== null && expiresAt > at ? expiresAt : undefined;
}

function isInGrace(
  own: SubscriptionState | undefined,
): own is SubscriptionState & { readonly expiresAt: Date } {
  return own?.status === 'grace' && own.expiresAt !== null && own.term !== null && own.term.priceRials > 0;
}

/** If `endedAt` is later than `expiresAt`, the domain was served during the grace period. */
export interface EndedSubscription {
  readonly expiresAt: Date;
  readonly endedAt: Date;
}

/**
 * The next paid term also covers time served in grace, as a renewal does, even after a free term in between, unless the old
 * end is a whole grace period ago. A term that is not longer than the time served would be too cheap, so it is refused.
 */
function startOf(served: EndedSubscription | undefined, term: Term, at: Date): Date {
  if (served === undefined || term.priceRials === 0) return at;
  const { expiresAt, endedAt } = served;
  const start = new Date(at.getTime() - Math.max(0, endedAt.getTime() - expiresAt.getTime()));
  return addDays(expiresAt, GRACE_DAYS) > at ? start : at;
}

function refused(message: string): Buying {
  return { kind: 'refused', message };
}
