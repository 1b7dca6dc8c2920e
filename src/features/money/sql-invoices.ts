// Issues invoices, and loads them.

import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../store/postgres/database.ts';
import { countUpTo, type LogPage, logSql } from '../../store/postgres/list-page.ts';

interface NewInvoice {
  readonly accountId: number;
  readonly domainId: number;
  readonly subscriptionId: number;
  readonly movementId: number;
  readonly description: string;
  /** Negative for a credit note. */
  readonly totalRials: number;
  readonly period?: { readonly start: Date; readonly end: Date } | undefined;
  readonly at: Date;
  /** Stored permanently, even if the setting changes later. Empty to name no seller. */
  readonly seller: string;
  /** The reseller that paid a part. */
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

export interface Invoice {
  readonly id: number;
  readonly year: number;
  readonly number: number;
  readonly accountId: number;
  /** Name and email on that day. */
  readonly buyerName: string | null;
  readonly buyerEmail: string;
  readonly domainId: number | null;
  /** Encoded as in its column. */
  readonly domain: string | null;
  readonly subscriptionId: number | null;
  readonly lines: readonly { readonly description: string; readonly amount_rials: number }[];
  /** Negative for a credit note. */
  readonly totalRials: number;
  readonly periodStart: Date | null;
  readonly periodEnd: Date | null;
  readonly issuedAt: Date;
  /** Null if the invoice is older than this column. Empty if no seller was named. */
  readonly seller: string | null;
}

const COLUMNS = sql`id, year, number, account_id as "accountId", buyer_name as "buyerName", buyer_email as "buyerEmail",
  domain_id as "domainId", domain, subscription_id as "subscriptionId", lines, total_rials as "totalRials",
  period_start as "periodStart", period_end as "periodEnd", issued_at as "issuedAt", seller`;

interface InvoiceFilter {
  /** Owner of the invoices. A domain that belonged to another account before has more invoices. */
  readonly accountId: number;
  readonly domainId?: number | undefined;
  /** Only those with a higher id. */
  readonly after?: number | undefined;
}

function wanted({ accountId, domainId, after = 0 }: InvoiceFilter): RawBuilder<unknown> {
  const about = domainId === undefined ? sql`true` : sql`domain_id = ${domainId}`;
  return sql`account_id = ${accountId} and ${about} and id > ${after}`;
}

export async function listInvoices(db: Database, filter: InvoiceFilter, page: LogPage): Promise<Invoice[]> {
  const { behind, order } = logSql(sql`id`, page);
  const { rows } = await sql<Invoice>`
    select ${COLUMNS} from invoices where ${wanted(filter)} and ${behind}
    order by ${order} limit ${page.limit} offset ${page.offset ?? 0}`.execute(db);
  return rows;
}

export async function countInvoices(db: Database, filter: InvoiceFilter): Promise<number> {
  return await countUpTo(db, sql`invoices where ${wanted(filter)}`);
}

/** Loads an invoice of an account by its id, or any invoice by its number. */
export async function loadInvoice(
  db: Database,
  named:
    | { readonly id: number; readonly accountId: number }
    | { readonly year: number; readonly number: number },
): Promise<Invoice | undefined> {
  const which =
    'id' in named
      ? sql`id = ${named.id} and account_id = ${named.accountId}`
      : sql`year = ${named.year} and number = ${named.number}`;
  const { rows } = await sql<Invoice>`select ${COLUMNS} from invoices where ${which}`.execute(db);
  return rows[0];
}
