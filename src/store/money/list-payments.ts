// Lists top-ups: one's own, or all.

import { type RawBuilder, sql } from 'kysely';
import type { TopupState } from '../../billing/topup.ts';
import type { Database } from '../postgres/database.ts';
import { countUpTo, type LogPage, logSql } from '../postgres/list-page.ts';
import { PAYMENT_COLUMNS, type Payment } from './payments.ts';

interface PaymentFilter {
  /** Only those with a higher id. */
  readonly after?: number | undefined;
  readonly accountId?: number | undefined;
  readonly state?: TopupState | undefined;
}

const STATES: Readonly<Record<TopupState, RawBuilder<unknown>>> = {
  open: sql`p.paid_at is null and p.cancelled_at is null and p.expires_at > clock_timestamp()`,
  paid: sql`p.paid_at is not null`,
  cancelled: sql`p.paid_at is null and p.cancelled_at is not null`,
  expired: sql`p.paid_at is null and p.cancelled_at is null and p.expires_at <= clock_timestamp()`,
};

function wanted({ after = 0, accountId, state }: PaymentFilter): RawBuilder<unknown> {
  const own = accountId === undefined ? sql`true` : sql`p.account_id = ${accountId}`;
  return sql`p.id > ${after} and ${own} and ${state === undefined ? sql`true` : STATES[state]}`;
}

export async function listPayments(db: Database, filter: PaymentFilter, page: LogPage): Promise<Payment[]> {
  const { behind, order } = logSql(sql`p.id`, page);
  const { rows } = await sql<Payment>`
    select ${PAYMENT_COLUMNS} from payments p join accounts a on a.id = p.account_id
    where ${wanted(filter)} and ${behind}
    order by ${order} limit ${page.limit} offset ${page.offset ?? 0}`.execute(db);
  return rows;
}

export async function countPayments(db: Database, filter: PaymentFilter): Promise<number> {
  return await countUpTo(db, sql`payments p where ${wanted(filter)}`);
}
