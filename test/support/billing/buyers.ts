// Accounts with money, domains and sessions, to buy with over HTTP.

import { setProvider, setReseller } from '../../../src/store/accounts/accounts.ts';
import { addTerm } from '../../../src/store/accounts/plans.ts';
import { openSession } from '../../../src/store/people/sessions.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import { newAccount, newDomain } from '../database/domains.ts';
import { giveMoney } from './give-money.ts';

export interface Buyer {
  readonly accountId: number;
  readonly isReseller: boolean;
  readonly token: string;
  /** As paths name them. */
  readonly domains: readonly string[];
  readonly domainIds: readonly number[];
  /** The reseller that manages it. */
  readonly provider: Buyer | undefined;
}

export async function sessionOf(db: Database, accountId: number): Promise<string> {
  return await openSession(db, { accountId, carrier: 'bearer', address: '192.0.2.1', userAgent: undefined });
}

interface BuyersOrder {
  readonly count: number;
  readonly domains: number;
  readonly rials: number;
  readonly managed?: boolean;
}

/** Every fifth is a reseller, and with `managed` the one after it its client. Each begins with `rials`. */
export async function makeBuyers(
  db: Database,
  { count, domains, rials, managed = false }: BuyersOrder,
): Promise<Buyer[]> {
  const buyers: Buyer[] = [];
  for (let i = 0; i < count; i++) {
    const accountId = await newAccount(db, `buyer${i}@buy.test`);
    const isReseller = i % 5 === 0;
    if (isReseller) await setReseller(db, accountId, true);
    const provider = managed && i % 5 === 1 ? buyers.at(-1) : undefined;
    if (provider !== undefined) await setProvider(db, accountId, provider.accountId);
    if (rials > 0) await giveMoney(db, accountId, rials);
    const names = Array.from({ length: domains }, (_, n) => `d${n}.buyer${i}.test`);
    const domainIds: number[] = [];
    for (const name of names)
      domainIds.push((await newDomain(db, accountId, `${name}.`, { planSlug: 'free' })).id);
    const token = await sessionOf(db, accountId);
    buyers.push({ accountId, isReseller, token, domains: names, domainIds, provider });
  }
  return buyers;
}

/** Two terms of one plan, to switch between. */
export async function sellTwoTerms(db: Database): Promise<readonly [number, number]> {
  const term = async (days: number, priceRials: number) =>
    (await addTerm(db, 'pro', { days, priceRials }))?.terms.at(-1)?.id as number;
  return [await term(30, 1009), await term(90, 2503)];
}
