// Calculates refunds for unused paid time. Each payer gets back the share that it paid.

/** The period that one invoice was paid for. */
export interface PaidPeriod {
  readonly paidRials: number;
  readonly start: Date;
  readonly end: Date;
  /** The reseller who paid a part of it, and how much. */
  readonly fundedBy: number | null;
  readonly fundedRials: number;
}

export interface GivenBack {
  /** Total refund. */
  readonly totalRials: number;
  /** Parts of the total that go to resellers, by account. */
  readonly funders: ReadonlyMap<number, number>;
}

/**
 * Returns the refund for the time that remains, rounded down per invoice. The client's part is rounded down as well, so
 * that a reseller's money never goes to its client.
 */
export function giveBackOf(paid: readonly PaidPeriod[], at: Date): GivenBack {
  let totalRials = 0;
  const funders = new Map<number, number>();
  for (const period of paid) {
    const unused = unusedOf(period, at);
    totalRials += unused;
    const { paidRials, fundedBy, fundedRials } = period;
    const own = share(unused, paidRials - fundedRials, paidRials);
    if (fundedBy !== null && unused > own) funders.set(fundedBy, (funders.get(fundedBy) ?? 0) + unused - own);
  }
  return { totalRials, funders };
}

function unusedOf({ paidRials, start, end }: PaidPeriod, at: Date): number {
  const whole = end.getTime() - start.getTime();
  return share(paidRials, Math.max(0, Math.min(end.getTime() - at.getTime(), whole)), whole);
}

/** Exact, even if the product exceeds the precision of a number. */
function share(amount: number, part: number, whole: number): number {
  return whole <= 0 ? 0 : Number((BigInt(amount) * BigInt(part)) / BigInt(whole));
}
