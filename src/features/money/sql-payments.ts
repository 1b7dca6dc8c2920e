// Orders top-ups, credits them, and lists them.

import { randomInt } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import {
  judgePaid,
  MOST_NEW_TOPUPS,
  MOST_OPEN_TOPUPS,
  stateOf,
  TOPUP_OPEN_HOURS,
  type TopupState,
} from '../../billing/topup.ts';
import { countInWindow } from '../../store/accounts/rate-windows.ts';
import type { Database } from '../../store/postgres/database.ts';
import { countUpTo, type LogPage, logSql } from '../../store/postgres/list-page.ts';
import { inTransaction, rollBackTo } from '../../store/postgres/transaction.ts';
import { lockWallets, moveMoney } from './sql-wallet.ts';

export interface Payment {
  readonly id: number;
  readonly accountId: number;
  readonly email: string;
  readonly gateway: string;
  readonly reference: string;
  readonly amountRials: number;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly paidAt: Date | null;
  readonly cancelledAt: Date | null;
  /** Amount of the last notice that named another amount. */
  readonly refusedRials: number | null;
  readonly refusedAt: Date | null;
  /** Time by the database's clock. */
  readonly now: Date;
}

const PAYMENT_COLUMNS = sql`p.id, p.account_id as "accountId", a.email, p.gateway, p.reference,
  p.amount_rials as "amountRials", p.created_at as "createdAt", p.expires_at as "expiresAt", p.paid_at as "paidAt",
  p.cancelled_at as "cancelledAt",  p.refused_rials as "refusedRials", p.refused_at as "refusedAt", clock_timestamp() as now`;

/** Excludes letters and digits that look alike, because people copy references. */
const LETTERS = 'ABCDEFGHJKMNPQRSTVWXYZ23456789';
/** 78 random bits. */
const REFERENCE_LETTERS = 16;
export const REFERENCE = /^[A-HJKMNP-TV-Z2-9]{16}$/;

function makeReference(): string {
  return Array.from({ length: REFERENCE_LETTERS }, () => LETTERS[randomInt(LETTERS.length)]).join('');
}

type Ordered =
  | { readonly kind: 'ordered'; readonly payment: Payment }
  /** The account has the maximum number of open top-ups. */
  | { readonly kind: 'full' }
  | { readonly kind: 'too_often'; readonly waitSeconds: number };

export async function orderTopup(
  db: Database,
  order: { readonly accountId: number; readonly gateway: string; readonly amountRials: number },
): Promise<Ordered> {
  const { accountId, gateway, amountRials } = order;
  return await inTransaction<Ordered>(db, async (trx) => {
    await lockWallets(trx, [accountId]); // for an exact count
    const { rows } = await sql<{ id: number }>`
      insert into payments (account_id, gateway, reference, amount_rials, created_at, expires_at)
      select ${accountId}, ${gateway}, ${makeReference()}, ${amountRials}, n.at, n.at + make_interval(hours => ${TOPUP_OPEN_HOURS})
      from (select clock_timestamp() as at) n
      where (select count(*) from payments
        where account_id = ${accountId} and paid_at is null and cancelled_at is null and expires_at > n.at) < ${MOST_OPEN_TOPUPS}
      returning id`.execute(trx);
    const [made] = rows;
    if (made === undefined) return { kind: 'full' };
    const rule = { limit: MOST_NEW_TOPUPS, seconds: 86_400 };
    const waitSeconds = await countInWindow(trx, `topups:${accountId}`, rule);
    if (waitSeconds !== undefined) return rollBackTo({ kind: 'too_often', waitSeconds });
    return { kind: 'ordered', payment: (await loadPayment(trx, made.id)) as Payment };
  });
}

type Cancelled =
  | { readonly kind: 'cancelled'; readonly payment: Payment }
  | { readonly kind: 'absent' }
  /** The top-up is no longer open. */
  | { readonly kind: 'wrong_state'; readonly state: TopupState };

/** Cancels a top-up of the account. The row is kept, because a payment that is already in progress is credited. */
export async function cancelTopup(
  db: Database,
  { accountId, id }: { readonly accountId: number; readonly id: number },
): Promise<Cancelled> {
  return await inTransaction<Cancelled>(db, async (trx) => {
    const locked = await sql`
      select from payments where id = ${id} and account_id = ${accountId} for no key update`.execute(trx);
    const payment = locked.rows.length === 0 ? undefined : await loadPayment(trx, id);
    if (payment === undefined) return { kind: 'absent' };
    const state = stateOf(payment, payment.now);
    if (state !== 'open') return { kind: 'wrong_state', state };
    await sql`update payments set cancelled_at = ${payment.now} where id = ${id}`.execute(trx);
    return { kind: 'cancelled', payment: { ...payment, cancelledAt: payment.now } };
  });
}

export async function loadPayment(db: Database, id: number): Promise<Payment | undefined> {
  const { rows } = await sql<Payment>`
    select ${PAYMENT_COLUMNS} from payments p join accounts a on a.id = p.account_id where p.id = ${id}`.execute(
    db,
  );
  return rows[0];
}

/** Finds a top-up of the account. */
export async function findPayment(
  db: Database,
  { accountId, reference }: { readonly accountId: number; readonly reference: string },
): Promise<Payment | undefined> {
  const { rows } = await sql<Payment>`
    select ${PAYMENT_COLUMNS} from payments p join accounts a on a.id = p.account_id
    where p.reference = ${reference} and p.account_id = ${accountId}`.execute(db);
  return rows[0];
}

type Paid =
  /** A gateway reported the payment, with its amount. */
  | { readonly gateway: string; readonly reference: string; readonly amountRials: number }
  /** An operator confirmed the payment. */
  | { readonly id: number };

type Credited =
  | { readonly kind: 'credited'; readonly payment: Payment; readonly balanceRials: number }
  | { readonly kind: 'already'; readonly payment: Payment }
  | { readonly kind: 'absent' }
  /** `isNews` is true if no earlier notice named this amount. */
  | { readonly kind: 'differs'; readonly payment: Payment; readonly isNews: boolean }
  /** The balance would exceed the largest amount that a wallet can hold. */
  | { readonly kind: 'full'; readonly payment: Payment };

/** Credits the ordered amount once, even if several notices arrive concurrently. */
export async function creditTopup(db: Database, paid: Paid): Promise<Credited> {
  return await inTransaction<Credited>(db, async (trx) => {
    const named =
      'id' in paid
        ? sql`p.id = ${paid.id}`
        : sql`p.reference = ${paid.reference} and p.gateway = ${paid.gateway}`;
    const { rows } = await sql<Payment>`
      select ${PAYMENT_COLUMNS} from payments p join accounts a on a.id = p.account_id
      where ${named} for no key update of p`.execute(trx);
    const [payment] = rows;
    if (payment === undefined) return { kind: 'absent' };
    const reportedRials = 'id' in paid ? undefined : paid.amountRials;
    const judged = judgePaid(payment, reportedRials);
    if (judged.kind === 'already') return { kind: 'already', payment };
    if (judged.kind === 'differs') {
      await sql`
        update payments set refused_rials = ${reportedRials}::bigint, refused_at = clock_timestamp()
        where id = ${payment.id}`.execute(trx);
      return { kind: 'differs', payment, isNews: payment.refusedRials !== reportedRials };
    }
    const moved = await moveMoney(trx, {
      from: { outside: 'gateway' },
      to: { accountId: payment.accountId },
      amountRials: payment.amountRials,
      refType: 'topup',
      refId: payment.id,
      description: `Top-up ${payment.reference}`,
      at: payment.now,
    });
    if (moved.kind !== 'moved') return { kind: 'full', payment };
    await sql`
      update payments set paid_at = ${payment.now}, movement_id = ${moved.movementId} where id = ${payment.id}`.execute(
      trx,
    );
    const balanceRials = moved.to as number;
    return { kind: 'credited', payment: { ...payment, paidAt: payment.now }, balanceRials };
  });
}

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
