// Reads a wallet and what moved in it. An account whose money never moved has no row, and holds nothing.

import { sql } from 'kysely';
import type { RefType } from '../../billing/ledger.ts';
import type { Database } from '../postgres/database.ts';
import { countUpTo, type LogPage, logSql } from '../postgres/list-page.ts';

export async function loadBalance(db: Database, accountId: number): Promise<number> {
  const { rows } = await sql<{ balance: number }>`
    select balance_rials as balance from wallets where account_id = ${accountId}`.execute(db);
  return rows[0]?.balance ?? 0;
}

/** A row of the ledger, as its account sees it. */
export interface Transaction {
  readonly id: number;
  readonly amountRials: number;
  /** Of the wallet, after it. */
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
