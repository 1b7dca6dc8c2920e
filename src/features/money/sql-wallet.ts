// Moves money between wallets, and reads them.

import { sql } from 'kysely';
import type { GivenBack } from '../../billing/give-back.ts';
import { bookOn, MAX_RIALS, type Outside, type RefType, type WalletState } from '../../billing/ledger.ts';
import type { Database } from '../../store/postgres/database.ts';
import { countUpTo, type LogPage, logSql } from '../../store/postgres/list-page.ts';
import { issueInvoice } from './sql-invoices.ts';

interface LockedWallet extends WalletState {
  readonly accountId: number;
}

/** Locks the wallets of these accounts until the end of the transaction. Creates missing ones. */
export async function lockWallets(
  trx: Database,
  accountIds: readonly number[],
): Promise<Map<number, LockedWallet>> {
  const ids = [...new Set(accountIds)].sort((a, b) => a - b);
  await sql`
    insert into wallets (account_id) select id from unnest(${ids}::bigint[]) id order by id
    on conflict do nothing`.execute(trx);
  const { rows } = await sql<LockedWallet>`
    select account_id as "accountId", balance_rials as "balanceRials", negative_since as "negativeSince",
      given_back_rials as "givenBackRials", debt_ms as "debtMs"
    from wallets where account_id = any(${ids}::bigint[]) order by account_id for no key update`.execute(trx);
  return new Map(rows.map((row) => [row.accountId, row]));
}

export interface Movement {
  readonly from: Side;
  readonly to: Side;
  /** Greater than 0. */
  readonly amountRials: number;
  readonly refType: RefType;
  readonly refId?: number | undefined;
  /** True if the amount is credited for unused time. */
  readonly isGivenBack?: boolean;
  /** Text of both rows. */
  readonly description: string;
  readonly at: Date;
}

type Side =
  /** `floorRials` is the balance that must remain. Default 0. */
  { readonly accountId: number; readonly floorRials?: number } | { readonly outside: Outside };

export type Moved =
  | {
      readonly kind: 'moved';
      readonly movementId: number;
      /** Balances of both sides afterwards. Undefined for a side that is not a wallet. */
      readonly from: number | undefined;
      readonly to: number | undefined;
    }
  /** Nothing is written, because a balance would be too low or exceed the largest amount. */
  | { readonly kind: 'short' | 'full'; readonly balanceRials: number };

/** Writes both rows and both balances, or nothing. */
export async function moveMoney(trx: Database, movement: Movement): Promise<Moved> {
  const { from, to, amountRials } = movement;
  if (!Number.isSafeInteger(amountRials) || amountRials <= 0 || amountRials > MAX_RIALS) {
    throw new RangeError(`an amount is a whole number of rials from 1 to ${MAX_RIALS}, not ${amountRials}`);
  }
  const wallets = await lockWallets(
    trx,
    [from, to].flatMap((side) => ('accountId' in side ? [side.accountId] : [])),
  );
  const walletOf = (side: Side) => ('accountId' in side ? wallets.get(side.accountId) : undefined);
  const balanceOf = (side: Side) => walletOf(side)?.balanceRials;
  const [source, target] = [balanceOf(from), balanceOf(to)];
  const floor = 'accountId' in from ? (from.floorRials ?? 0) : 0;
  if (source !== undefined && source - amountRials < floor) return { kind: 'short', balanceRials: source };
  if (target !== undefined && target + amountRials > MAX_RIALS) return { kind: 'full', balanceRials: target };
  const { rows } = await sql<{ id: number }>`select nextval('movement_id') as id`.execute(trx);
  const movementId = (rows[0] as { id: number }).id;
  return {
    kind: 'moved',
    movementId,
    from: await book(trx, {
      movementId,
      movement,
      side: from,
      wallet: walletOf(from),
      amountRials: -amountRials,
    }),
    to: await book(trx, { movementId, movement, side: to, wallet: walletOf(to), amountRials }),
  };
}

interface Entry {
  readonly movementId: number;
  readonly movement: Movement;
  readonly side: Side;
  /** Locked. Undefined if the side is not a wallet. */
  readonly wallet: LockedWallet | undefined;
  readonly amountRials: number;
}

/** Writes the ledger row and the wallet's new balance. A balance of zero or more ends the suspension. */
async function book(
  trx: Database,
  { movementId, movement, side, wallet, amountRials }: Entry,
): Promise<number | undefined> {
  const { refType, refId, description, isGivenBack = false, at } = movement;
  const after = wallet && bookOn(wallet, { amountRials, isGivenBack, at });
  if (wallet !== undefined && after !== undefined) {
    const { balanceRials, negativeSince, givenBackRials, debtMs } = after;
    await sql`
      update wallets set balance_rials = ${balanceRials}::bigint, negative_since = ${negativeSince},
        given_back_rials = ${givenBackRials}::bigint, debt_ms = ${debtMs}::bigint,
        suspended_at = case when ${balanceRials}::bigint < 0 then suspended_at end
      where account_id = ${wallet.accountId}`.execute(trx);
  }
  await trx
    .insertInto('ledger')
    .values({
      movement_id: movementId,
      account_id: wallet?.accountId ?? null,
      outside: 'outside' in side ? side.outside : null,
      amount_rials: amountRials,
      balance_rials: after?.balanceRials ?? null,
      ref_type: refType,
      ref_id: refId ?? null,
      description,
      created_at: at,
    })
    .execute();
  return after?.balanceRials;
}

export async function loadBalance(db: Database, accountId: number): Promise<number> {
  const { rows } = await sql<{ balance: number }>`
    select balance_rials as balance from wallets where account_id = ${accountId}`.execute(db);
  return rows[0]?.balance ?? 0;
}

/** A row of the ledger, as its account sees it. */
export interface Transaction {
  readonly id: number;
  readonly amountRials: number;
  /** Balance of the wallet after the transaction. */
  readonly balanceRials: number;
  readonly refType: RefType;
  readonly refId: number | null;
  readonly description: string;
  readonly createdAt: Date;
}

interface TransactionFilter {
  readonly accountId: number;
  /** Only rows with a higher id. */
  readonly after?: number | undefined;
}

export async function listTransactions(
  db: Database,
  { accountId, after = 0 }: TransactionFilter,
  page: LogPage,
): Promise<Transaction[]> {
  const { behind, order } = logSql(sql`id`, page);
  const { rows } = await sql<Transaction>`
    select id, amount_rials as "amountRials", balance_rials as "balanceRials", ref_type as "refType", ref_id as "refId",
      description, created_at as "createdAt"
    from ledger where account_id = ${accountId} and id > ${after} and ${behind}
    order by ${order} limit ${page.limit} offset ${page.offset ?? 0}`.execute(db);
  return rows;
}

export async function countTransactions(
  db: Database,
  { accountId, after = 0 }: TransactionFilter,
): Promise<number> {
  return await countUpTo(db, sql`ledger where account_id = ${accountId} and id > ${after}`);
}

interface Credit extends GivenBack {
  readonly accountId: number;
  readonly subscriptionId: number;
  readonly domainId: number;
  readonly description: string;
  readonly seller: string;
  readonly at: Date;
}

/** The caller must have locked the wallets of the account and of all funders. */
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
      from: { accountId, floorRials: Number.MIN_SAFE_INTEGER }, // the amount was credited just before
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
