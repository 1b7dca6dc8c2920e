// Charges a wallet for what is bought, with its invoice. A managed account that holds too little is funded by its
// reseller, as far as that may go below zero.

import { sql } from 'kysely';
import { floorOf, shortfallOf } from '../../billing/ledger.ts';
import type { Wallet } from '../../billing/wallet.ts';
import type { Database } from '../postgres/database.ts';
import { lockWallets, type Moved, moveMoney } from './move-money.ts';

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

interface Payers {
  readonly accountId: number;
  readonly providerId: number | null;
  readonly isReseller: boolean;
}

/** Who pays for these accounts: their resellers too. */
async function payersOf(trx: Database, accountIds: readonly number[]): Promise<Map<number, Payers>> {
  const { rows } = await sql<Payers>`
    select account_id as "accountId", provider_id as "providerId", is_reseller as "isReseller"
    from providers_of(${[...accountIds]}::bigint[])`.execute(trx);
  return new Map(rows.map((row) => [row.accountId, row]));
}

/** Locks the wallets of all who may pay for these accounts, once, in order. */
export async function lockPayers(trx: Database, accountIds: readonly number[]) {
  const payers = await payersOf(trx, accountIds);
  const ids = [...payers.values()].flatMap(({ accountId, providerId }) =>
    [accountId, providerId ?? []].flat(),
  );
  return { payers, wallets: await lockWallets(trx, ids) };
}

export async function chargePurchase(
  trx: Database,
  purchase: Purchase,
  maxNegativeRials: number,
): Promise<Charged> {
  const { accountId, subscriptionId, domainId, priceRials, description, period, at } = purchase;
  const { payers, wallets } = await lockPayers(trx, [accountId]);
  const { providerId, isReseller } = payers.get(accountId) as Payers;
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
  const lines = [{ description, amount_rials: priceRials }];
  const invoice = await sql<{ id: number }>`
    select issue_invoice(${accountId}, ${domainId}, ${subscriptionId}, ${done(paid)}, ${JSON.stringify(lines)}::jsonb,
      ${priceRials}::bigint, ${period?.start ?? null}::timestamptz, ${period?.end ?? null}::timestamptz, ${at}) as id`.execute(
    trx,
  );
  return { kind: 'paid', invoiceId: (invoice.rows[0] as { id: number }).id };
}

/** Both wallets are locked and were judged. */
function done(moved: Moved): number {
  if (moved.kind !== 'moved') throw new Error(`a wallet was judged to hold enough, and is ${moved.kind}`);
  return moved.movementId;
}

/** For the job that renews subscriptions. */
export function renewalWallet(maxNegativeRials: number): Wallet<Database> {
  return {
    async lock(trx, accountIds) {
      await lockPayers(trx, accountIds);
    },
    async charge(trx, charge) {
      const charged = await chargePurchase(trx, charge, maxNegativeRials);
      return charged.kind === 'paid';
    },
  };
}
