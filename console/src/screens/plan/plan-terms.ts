// Decisions of the plan page: which subscription counts, and whether a term is bought or switched to.

interface Subscribed {
  readonly status: string;
  readonly plan_term_id?: number | undefined;
  readonly expires_at?: string | undefined;
}

/** They come newest first; one that ran out does not count. */
export function subscriptionInForce<T extends Subscribed>(list: readonly T[]): T | undefined {
  return list.find(({ status }) => status !== 'expired');
}

/** `purchase` while no paid time is left, `switch` while there is some, which is credited. */
export function wayToBuy(subscription: Subscribed | undefined, nowMs: number): 'purchase' | 'switch' {
  if (subscription?.plan_term_id === undefined || subscription.expires_at === undefined) return 'purchase';
  const isPaid = subscription.status === 'active' || subscription.status === 'cancelled';
  return isPaid && Date.parse(subscription.expires_at) > nowMs ? 'switch' : 'purchase';
}

/** Of 100, at most; undefined where there is no limit. */
export function percentOf(used: number, limit: number | null): number | undefined {
  if (limit === null) return undefined;
  if (limit === 0) return used > 0 ? 100 : 0;
  return Math.min(100, Math.round((used / limit) * 100));
}
