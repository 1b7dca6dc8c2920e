// Gives money back for paid time that is not used, with an invoice over a negative total (a credit note).

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import { moveMoney } from './move-money.ts';

interface Credit {
  readonly accountId: number;
  readonly subscriptionId: number;
  readonly domainId: number;
  /** More than 0. */
  readonly amountRials: number;
  readonly description: string;
  readonly at: Date;
}

/** The wallet is locked by the caller. */
export async function creditUnused(trx: Database, credit: Credit): Promise<void> {
  const { accountId, subscriptionId, domainId, amountRials, description, at } = credit;
  const moved = await moveMoney(trx, {
    from: { outside: 'sales' },
    to: { accountId },
    amountRials,
    refType: 'switch_credit',
    refId: subscriptionId,
    description,
    at,
  });
  if (moved.kind !== 'moved')
    throw new Error(`a credit of ${amountRials} rials finds the wallet ${moved.kind}`);
  const lines = [{ description, amount_rials: -amountRials }];
  await sql`
    select issue_invoice(${accountId}, ${domainId}, ${subscriptionId}, ${moved.movementId},
      ${JSON.stringify(lines)}::jsonb, ${-amountRials}::bigint, null, null, ${at})`.execute(trx);
}
