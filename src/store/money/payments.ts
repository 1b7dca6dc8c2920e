// Top-ups: ordered by an account, and credited once, by a gateway's notice or by an operator. A top-up is locked before the
// wallet; whoever orders one locks the wallet, and no top-up that is there.

import { randomInt } from 'node:crypto';
import { sql } from 'kysely';
import { judgePaid, MOST_OPEN_TOPUPS, TOPUP_OPEN_HOURS } from '../../billing/topup.ts';
import type { Database } from '../postgres/database.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { lockWallets, moveMoney } from './move-money.ts';

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
  /** Of the last notice that named another amount. */
  readonly refusedRials: number | null;
  readonly refusedAt: Date | null;
  /** The database's clock. */
  readonly now: Date;
}

export const PAYMENT_COLUMNS = sql`p.id, p.account_id as "accountId", a.email, p.gateway, p.reference,
  p.amount_rials as "amountRials", p.created_at as "createdAt", p.expires_at as "expiresAt", p.paid_at as "paidAt",
  p.refused_rials as "refusedRials", p.refused_at as "refusedAt", clock_timestamp() as now`;

/** Without letters and digits that look alike: people copy it. */
const LETTERS = 'ABCDEFGHJKMNPQRSTVWXYZ23456789';
/** 78 random bits. */
const REFERENCE_LETTERS = 16;
export const REFERENCE = /^[A-HJKMNP-TV-Z2-9]{16}$/;

function makeReference(): string {
  return Array.from({ length: REFERENCE_LETTERS }, () => LETTERS[randomInt(LETTERS.length)]).join('');
}

/** Undefined: as many are open as may be. */
export async function orderTopup(
  db: Database,
  order: { readonly accountId: number; readonly gateway: string; readonly amountRials: number },
): Promise<Payment | undefined> {
  const { accountId, gateway, amountRials } = order;
  return await inTransaction(db, async (trx) => {
    await lockWallets(trx, [accountId]); // so that the count is right
    const { rows } = await sql<{ id: number }>`
      insert into payments (account_id, gateway, reference, amount_rials, created_at, expires_at)
      select ${accountId}, ${gateway}, ${makeReference()}, ${amountRials}, n.at, n.at + make_interval(hours => ${TOPUP_OPEN_HOURS})
      from (select clock_timestamp() as at) n
      where (select count(*) from payments
        where account_id = ${accountId} and paid_at is null and expires_at > n.at) < ${MOST_OPEN_TOPUPS}
      returning id`.execute(trx);
    const [made] = rows;
    return made && (await loadPayment(trx, made.id));
  });
}

export async function loadPayment(db: Database, id: number): Promise<Payment | undefined> {
  const { rows } = await sql<Payment>`
    select ${PAYMENT_COLUMNS} from payments p join accounts a on a.id = p.account_id where p.id = ${id}`.execute(
    db,
  );
  return rows[0];
}

/** One's own. */
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
  /** A gateway says so, and names an amount. */
  | { readonly gateway: string; readonly reference: string; readonly amountRials: number }
  /** An operator has seen the money. */
  | { readonly id: number };

type Credited =
  | { readonly kind: 'credited'; readonly payment: Payment; readonly balanceRials: number }
  | { readonly kind: 'already'; readonly payment: Payment }
  | { readonly kind: 'absent' }
  /** `isNews`: no notice has named this amount before. */
  | { readonly kind: 'differs'; readonly payment: Payment; readonly isNews: boolean }
  /** The wallet would hold more than is counted. */
  | { readonly kind: 'full'; readonly payment: Payment };

/** Credits our amount, once, however many come at once. */
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
    const told = 'id' in paid ? undefined : paid.amountRials;
    const judged = judgePaid(payment, told);
    if (judged.kind === 'already') return { kind: 'already', payment };
    if (judged.kind === 'differs') {
      await sql`
        update payments set refused_rials = ${told}::bigint, refused_at = clock_timestamp()
        where id = ${payment.id}`.execute(trx);
      return { kind: 'differs', payment, isNews: payment.refusedRials !== told };
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
