// What may be bought for a domain that has this subscription, and from when on it counts.

import { addDays, GRACE_DAYS, type SubscriptionState, type Term } from './subscription.ts';

export type BuyKind = 'purchase' | 'switch';

type Buying =
  /** The new subscription's time. */
  | { readonly kind: 'buys'; readonly start: Date; readonly end: Date }
  | { readonly kind: 'refused'; readonly message: string };

interface BuyingOrder {
  readonly kind: BuyKind;
  readonly term: Term;
  readonly at: Date;
  /** The last subscription of the domain that was bought, if it has ended. */
  readonly lastPaid?: EndedSubscription | undefined;
}

/** `own`: the domain's subscription that has not ended, as it is at this time. */
export function judgeBuying(
  own: SubscriptionState | undefined,
  { kind, term, at, lastPaid }: BuyingOrder,
): Buying {
  const paidUntil = own === undefined ? undefined : paidUntilOf(own, at);
  if (kind === 'purchase' && paidUntil !== undefined) {
    return refused(`the domain's subscription is paid until ${paidUntil.toISOString()}: switch it`);
  }
  if (kind === 'switch' && paidUntil === undefined) {
    return refused('the domain has no subscription with paid time to switch from: purchase one');
  }
  if (kind === 'switch' && own?.term?.id === term.id) return refused('the domain has this term already');
  const served = isInGrace(own) ? { expiresAt: own.expiresAt, endedAt: at } : lastPaid;
  const start = startOf(served, term, at);
  if (served !== undefined && addDays(start, term.days) <= at) {
    const until = addDays(served.expiresAt, GRACE_DAYS).toISOString();
    return refused(
      `the domain was served after its paid time for longer than this term lasts: buy a longer one, or have the subscription renewed, or wait until ${until}`,
    );
  }
  return { kind: 'buys', start, end: addDays(start, term.days) };
}

/** Whether time that was bought is left: then a plan is switched, and not purchased. */
export function hasPaidTime(own: SubscriptionState | undefined, at: Date): boolean {
  return own !== undefined && paidUntilOf(own, at) !== undefined;
}

/** Undefined: no time that was bought is left. */
function paidUntilOf({ term, status, expiresAt, isTrial }: SubscriptionState, at: Date): Date | undefined {
  const isPaid = term !== null && term.priceRials > 0 && !isTrial && status !== 'grace';
  return isPaid && expiresAt !== null && expiresAt > at ? expiresAt : undefined;
}

function isInGrace(
  own: SubscriptionState | undefined,
): own is SubscriptionState & { readonly expiresAt: Date } {
  return own?.status === 'grace' && own.expiresAt !== null && own.term !== null && own.term.priceRials > 0;
}

/** Later than `expiresAt`, `endedAt` says that it was served in grace. */
export interface EndedSubscription {
  readonly expiresAt: Date;
  readonly endedAt: Date;
}

/**
 * Who was served in grace pays for that time with the next term that costs something, as with a renewal, also if it left for a
 * free one meanwhile; unless the old end is a whole grace ago. A term that is no longer than what was served would pay for it
 * with less: it is refused.
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
