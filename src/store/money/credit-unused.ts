// Gives money back for paid time that is not used, with an invoice over a negative total (a credit note). What a reseller had
// added goes on to its wallet: otherwise what it may owe would become its client's money.

import type { GivenBack } from '../../billing/give-back.ts';
import type { Database } from '../postgres/database.ts';
import { issueInvoice } from './issue-invoice.ts';
import { moveMoney } from './move-money.ts';

interface Credit extends GivenBack {
  readonly accountId: number;
  readonly subscriptionId: number;
  readonly domainId: number;
  readonly description: string;
  readonly seller: string;
  readonly at: Date;
}

/** The wallets of the account and of all funders are locked by the caller. */
export async function creditUnused(trx: Database, credit: Credit): Promise<void> {
  const { accountId, subscriptionId, domainId, totalRials, funders, description, seller, at } = credit;
  const common = { refId: subscriptionId, description, isGivenBack: true, at };
  const credited = await moveMoney(trx, {
    ...common,
    from: { outside: 'sales' },
    to: { accountId },
    amountRials: totalRials,
    refType: 'switch_credit',
  });
  if (credited.kind !== 'moved')
    throw new Error(`a credit of ${totalRials} rials finds the wallet ${credited.kind}`);
  for (const [funderId, amountRials] of funders) {
    const moved = await moveMoney(trx, {
      ...common,
      from: { accountId, floorRials: Number.MIN_SAFE_INTEGER }, // it has just come
      to: { accountId: funderId },
      amountRials,
      refType: 'reseller_autofund',
    });
    if (moved.kind !== 'moved')
      throw new Error(`${amountRials} rials go back to a reseller whose wallet is ${moved.kind}`);
  }
  const { movementId } = credited;
  const invoice = { accountId, domainId, subscriptionId, movementId, description, seller, at };
  await issueInvoice(trx, { ...invoice, totalRials: -totalRials });
}
