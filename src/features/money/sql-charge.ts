// Charges wallets for subscriptions.

import { sql } from 'kysely';
import { floorOf, shortfallOf } from '../../billing/ledger.ts';
import type { Wallet } from '../../billing/wallet.ts';
import type { Database } from '../../store/postgres/database.ts';
import { issueInvoice } from './sql-invoices.ts';
import { lockWallets, type Moved, moveMoney } from './sql-wallet.ts';

interface Purchase {
  readonly accountId: number;
  readonly subscriptionId: number;
  readonly domainId: number;
  readonly priceRials: number;
  /** What is bought, as the invoice and the ledger say it. */
  readonly description: string;
  readonly period?: { readonly start: Date; readonly end: Date } | undefined;
  readonly at: Date;
}

export type Charged =
  | { readonly kind: 'paid'; readonly invoiceId: number }
  /** The account's wallet is short, and nobody pays for it. */
  | { readonly kind: 'short' }
  /** The reseller would go below what it may. */
  | { readonly kind: 'credit_limit' };

/** What the operator has set of charges. */
export interface Charging {
  /** How far below zero a reseller's wallet may go. */
  readonly maxNegativeRials: number;
  /** Who sells, for the invoice; undefined: nobody is named. */
  readonly seller?: string | undefined;
}

interface Payer {
  readonly accountId: number;
  readonly providerId: number | null;
  readonly isReseller: boolean;
}

/** Who pays for each account. They are read once, and their wallets are locked until the end of the transaction. */
type LockedPayers = ReadonlyMap<number, Payer>;

/**
 * Locks the wallets of all who may pay for these accounts, and those of `others`, once, in order. Nothing of it is read again
 * later: with another provider by then, a wallet would be locked after the numbers of invoices.
 */
export async function lockPayers(
  trx: Database,
  accountIds: readonly number[],
  others: readonly number[] = [],
): Promise<LockedPayers> {
  const { rows } = await sql<Payer>`
    select account_id as "accountId", provider_id as "providerId", is_reseller as "isReseller"
    from providers_of(${[...accountIds]}::bigint[])`.execute(trx);
  const ids = rows.flatMap(({ accountId, providerId }) => [accountId, providerId ?? []].flat());
  await lockWallets(trx, [...ids, ...others]);
  return new Map(rows.map((row) => [row.accountId, row]));
}

export async function chargePurchase(
  trx: Database,
  purchase: Purchase,
  payers: LockedPayers,
  { maxNegativeRials, seller = '' }: Charging,
): Promise<Charged> {
  const { accountId, subscriptionId, domainId, priceRials, description, period, at } = purchase;
  const { providerId, isReseller } = payers.get(accountId) as Payer;
  const wallets = await lockWallets(trx, providerId === null ? [accountId] : [accountId, providerId]);
  const ownFloor = floorOf({ isReseller }, maxNegativeRials);
  const resellerFloor = floorOf({ isReseller: true }, maxNegativeRials);
  const purseOf = (id: number, floorRials: number) => ({
    balanceRials: wallets.get(id)?.balanceRials as number,
    floorRials,
  });
  const missing = shortfallOf(
    priceRials,
    purseOf(accountId, ownFloor),
    providerId === null ? undefined : purseOf(providerId, resellerFloor),
  );
  if (missing === undefined) return { kind: providerId === null ? 'short' : 'credit_limit' };
  const common = { refId: subscriptionId, description, at };
  if (missing > 0 && providerId !== null) {
    const from = { accountId: providerId, floorRials: resellerFloor };
    const to = { accountId };
    done(await moveMoney(trx, { ...common, from, to, amountRials: missing, refType: 'reseller_autofund' }));
  }
  const paid = await moveMoney(trx, {
    ...common,
    from: { accountId, floorRials: ownFloor },
    to: { outside: 'sales' },
    amountRials: priceRials,
    refType: 'subscription',
  });
  const invoiceId = await issueInvoice(trx, {
    accountId,
    domainId,
    subscriptionId,
    movementId: done(paid),
    description,
    totalRials: priceRials,
    period,
    at,
    seller,
    // What it adds beyond the price pays a debt of the client's, which no switch gives back.
    funded:
      missing > 0 && providerId !== null
        ? { by: providerId, rials: Math.min(missing, priceRials) }
        : undefined,
  });
  return { kind: 'paid', invoiceId };
}

/** Both wallets are locked and were judged. */
function done(moved: Moved): number {
  if (moved.kind !== 'moved') throw new Error(`a wallet was judged to hold enough, and is ${moved.kind}`);
  return moved.movementId;
}

/** For the job that renews subscriptions. */
export function renewalWallet(charging: Charging): Wallet<Database> {
  return {
    async lock(trx, accountIds) {
      const payers = await lockPayers(trx, accountIds);
      return async (charge) => {
        const charged = await chargePurchase(trx, charge, payers, charging);
        return charged.kind === 'paid';
      };
    },
  };
}
