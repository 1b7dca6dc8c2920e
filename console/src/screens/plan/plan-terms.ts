// Decisions of the plan page: the current subscription, and whether a term is bought or switched to.

interface Subscribed {
  readonly status: string;
  readonly plan_term_id?: number | undefined;
  readonly expires_at?: string | undefined;
}

/** Returns the newest subscription that has not expired. The list is sorted newest first. */
export function subscriptionInForce<T extends Subscribed>(list: readonly T[]): T | undefined {
  return list.find(({ status }) => status !== 'expired');
}

/** `switch` if paid time is left, which is credited; otherwise `purchase`. */
export function wayToBuy(subscription: Subscribed | undefined, nowMs: number): 'purchase' | 'switch' {
  if (subscription?.plan_term_id === undefined || subscription.expires_at === undefined) return 'purchase';
  const isPaid = subscription.status === 'active' || subscription.status === 'cancelled';
  return isPaid && Date.parse(subscription.expires_at) > nowMs ? 'switch' : 'purchase';
}

/** Returns a percentage of at most 100, or undefined without a limit. */
export function percentOf(used: number, limit: number | null): number | undefined {
  if (limit === null) return undefined;
  if (limit === 0) return used > 0 ? 100 : 0;
  return Math.min(100, Math.round((used / limit) * 100));
}
