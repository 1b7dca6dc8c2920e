// What may be bought for a domain that has this subscription, from when on it counts, and what is given back for paid
// time that is not used.

import { addDays, type SubscriptionState, type Term } from './subscription.ts';

export type BuyKind = 'purchase' | 'switch';

type Buying =
  /** The new subscription's time. */
  | { readonly kind: 'buys'; readonly start: Date; readonly end: Date }
  | { readonly kind: 'refused'; readonly message: string };

/** `own`: the domain's subscription that has not ended, as it is at this time. */
export function judgeBuying(
  own: SubscriptionState | undefined,
  { kind, term, at }: { readonly kind: BuyKind; readonly term: Term; readonly at: Date },
): Buying {
  const paidUntil = own === undefined ? undefined : paidUntilOf(own, at);
  if (kind === 'purchase' && paidUntil !== undefined) {
    return refused(`the domain's subscription is paid until ${paidUntil.toISOString()}: switch it`);
  }
  if (kind === 'switch' && paidUntil === undefined) {
    return refused('the domain has no subscription with paid time to switch from: purchase one');
  }
  if (kind === 'switch' && own?.term?.id === term.id) return refused('the domain has this term already');
  const start = startOf(own, term, at);
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

/** Who was served in grace pays for that time, as with a renewal; unless the term is shorter than the grace so far. */
function startOf(own: SubscriptionState | undefined, term: Term, at: Date): Date {
  const isInGrace = own?.status === 'grace' && own.expiresAt !== null;
  return isInGrace && addDays(own.expiresAt, term.days) > at ? own.expiresAt : at;
}

/** What one invoice was paid for. */
export interface PaidPeriod {
  readonly paidRials: number;
  readonly start: Date;
  readonly end: Date;
}

/** The share of the money whose time is still to come, each invoice's rounded down. */
export function unusedRials(paid: readonly PaidPeriod[], at: Date): number {
  return paid.reduce((sum, period) => sum + unusedOf(period, at), 0);
}

function unusedOf({ paidRials, start, end }: PaidPeriod, at: Date): number {
  const whole = BigInt(end.getTime() - start.getTime());
  const left = BigInt(Math.max(0, Math.min(end.getTime() - at.getTime(), end.getTime() - start.getTime())));
  return whole <= 0n ? 0 : Number((BigInt(paidRials) * left) / whole);
}

function refused(message: string): Buying {
  return { kind: 'refused', message };
}
