// Writes an invoice, with the next number of its year. The row of the year is locked until the commit, so this comes after all
// other locks of the transaction.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

interface NewInvoice {
  readonly accountId: number;
  readonly domainId: number;
  readonly subscriptionId: number;
  readonly movementId: number;
  readonly description: string;
  /** Below zero: it is given back. */
  readonly totalRials: number;
  readonly period?: { readonly start: Date; readonly end: Date } | undefined;
  readonly at: Date;
  /** As it stays, whatever is set later; empty: nobody is named. */
  readonly seller: string;
  /** The reseller who paid a part. */
  readonly funded?: { readonly by: number; readonly rials: number } | undefined;
}

export async function issueInvoice(trx: Database, invoice: NewInvoice): Promise<number> {
  const { accountId, domainId, subscriptionId, movementId, description, totalRials } = invoice;
  const { period, at, seller, funded } = invoice;
  const lines = JSON.stringify([{ description, amount_rials: totalRials }]);
  const { rows } = await sql<{ id: number }>`
    select issue_invoice(${accountId}, ${domainId}, ${subscriptionId}, ${movementId}, ${lines}::jsonb,
      ${totalRials}::bigint, ${period?.start ?? null}::timestamptz, ${period?.end ?? null}::timestamptz, ${at},
      ${seller}::text, ${funded?.by ?? null}::bigint, ${funded?.rials ?? 0}::bigint) as id`.execute(trx);
  return (rows[0] as { id: number }).id;
}
