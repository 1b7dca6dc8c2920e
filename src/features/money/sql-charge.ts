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
  /** Text of the invoice and of the ledger. */
  readonly description: string;
  readonly period?: { readonly start: Date; readonly end: Date } | undefined;
  readonly at: Date;
}

export type Charged =
  | { readonly kind: 'paid'; readonly invoiceId: number }
  /** The account's balance is too low, and no reseller pays for it. */
  | { readonly kind: 'short' }
  /** The reseller's wallet would fall below its limit. */
  | { readonly kind: 'credit_limit' };

/** The operator's settings for charges. */
export interface Charging {
  /** How far below zero a reseller's wallet may go. */
  readonly maxNegativeRials: number;
  /** Seller named in the invoice. Undefined to name none. */
  readonly seller?: string | undefined;
}

interface Payer {
  readonly accountId: number;
  readonly providerId: number | null;
  readonly isReseller: boolean;
}

/** Payer of each account, read once. The wallets are locked until the end of the transaction. */
type LockedPayers = ReadonlyMap<number, Payer>;

/**
 * Locks the wallets of all payers of these accounts, and those of `others`, once and in order. The payers are not
 * read again later: if a provider changed meanwhile, its wallet would be locked after the invoice numbers.
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
    // Only the reseller's share of the price. What it adds beyond pays a debt of the client, which a switch does not
    // refund.
    funded:
      missing > 0 && providerId !== null
        ? { by: providerId, rials: Math.min(missing, priceRials) }
        : undefined,
  });
  return { kind: 'paid', invoiceId };
}

/** The caller has locked and checked both wallets. */
function done(moved: Moved): number {
  if (moved.kind !== 'moved') throw new Error(`a wallet was judged to hold enough, and is ${moved.kind}`);
  return moved.movementId;
}

/** Creates the wallet for the job that renews subscriptions. */
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
