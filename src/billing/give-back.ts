// What is given back for paid time that is not used, and to whom: each gets the share that it had paid.

/** What one invoice was paid for. */
export interface PaidPeriod {
  readonly paidRials: number;
  readonly start: Date;
  readonly end: Date;
  /** The reseller who paid a part of it, and how much. */
  readonly fundedBy: number | null;
  readonly fundedRials: number;
}

export interface GivenBack {
  /** In all. */
  readonly totalRials: number;
  /** What of it goes on to resellers, by their accounts. */
  readonly funders: ReadonlyMap<number, number>;
}

/**
 * The share of the money whose time is still to come, each invoice's rounded down. The client's part of it is rounded down too, so
 * that no rial of a reseller's becomes its client's.
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

/** Exact, also where the product has more digits than a number has. */
function share(amount: number, part: number, whole: number): number {
  return whole <= 0 ? 0 : Number((BigInt(amount) * BigInt(part)) / BigInt(whole));
}
