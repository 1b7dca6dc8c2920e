// Suspends the domains of accounts that are in debt for too long, and resumes them after payment.

import { type RawBuilder, sql } from 'kysely';
import { overdueSince } from '../../billing/ledger.ts';
import { writeAudits } from '../../store/audit/write-audit.ts';
import type { Database } from '../../store/postgres/database.ts';
import { announceAfterCommit, inTransaction } from '../../store/postgres/transaction.ts';

export interface SettledDebts {
  /** Number of wallets that exceeded the grace period. */
  readonly wallets: number;
  readonly suspended: number;
  readonly resumed: number;
  /** True if more may be due: run again without waiting. */
  readonly isMore: boolean;
}

interface DebtOrder {
  /** As of this time. */
  readonly at: Date;
  /** For how many days a wallet may be below zero. */
  readonly graceDays: number;
  readonly limit?: number;
}

const BATCH = 250;

export async function settleDebts(db: Database, order: DebtOrder): Promise<SettledDebts> {
  const { at, limit = BATCH } = order;
  const wallets = await suspendWallets(db, order);
  const suspended = await updateDomains(db, {
    isInDebt: true,
    at,
    // Starts from the accounts in debt, which are few.
    due: sql`from accounts_in_debt() debtor (id) join domains d on d.account_id = debtor.id
      where d.deleted_at is null and d.debt_suspended_at is null limit ${limit} for no key update of d skip locked`,
  });
  const resumed = await updateDomains(db, {
    isInDebt: false,
    at,
    due: sql`from domains d
      where d.debt_suspended_at is not null and d.account_id not in (select accounts_in_debt())
      limit ${limit} for no key update of d skip locked`,
  });
  return { wallets, suspended, resumed, isMore: [wallets, suspended, resumed].includes(limit) };
}

/** When the balance reaches zero, `moveMoney` clears `suspended_at`. */
async function suspendWallets(db: Database, { at, graceDays, limit = BATCH }: DebtOrder): Promise<number> {
  const { rows } = await sql`
    update wallets set suspended_at = ${at} where account_id in (
      select account_id from wallets
      where negative_since <= ${overdueSince(at, graceDays)} and suspended_at is null
      limit ${limit} for no key update skip locked)
    returning account_id`.execute(db);
  return rows.length;
}

interface DebtChange {
  readonly isInDebt: boolean;
  readonly at: Date;
  /** Selects and locks the domains `d` whose state must change. */
  readonly due: RawBuilder<unknown>;
}

async function updateDomains(db: Database, { isInDebt, at, due }: DebtChange): Promise<number> {
  return await inTransaction(db, async (trx) => {
    const { rows } = await sql<{ id: number; name: string; isByHand: boolean }>`
      with due as materialized (select d.id ${due})
      update domains d set debt_suspended_at = ${isInDebt ? at : null}::timestamptz, updated_at = clock_timestamp()
      from due where d.id = due.id
      returning d.id, rtrim(d.name, '.') as name, d.suspended_at is not null as "isByHand"`.execute(trx);
    await writeAudits(
      trx,
      rows.map(({ id, name, isByHand }) => ({
        action: 'domain.suspend',
        by: { kind: 'system' },
        domainId: id,
        target: { name },
        before: suspensionNote(isByHand, !isInDebt),
        after: suspensionNote(isByHand, isInDebt),
      })),
    );
    if (rows.length > 0) announceAfterCommit(trx); // notify edges
    return rows.length;
  });
}

function suspensionNote(isByHand: boolean, isByDebt: boolean) {
  return {
    suspended: isByHand || isByDebt,
    suspended_by: [...(isByHand ? ['operator'] : []), ...(isByDebt ? ['debt'] : [])],
  };
}
