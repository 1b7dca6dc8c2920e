// Moves money between wallets, or between a wallet and what is outside. Every writer locks domains first, then wallets in
// the order of their accounts, then the numbers of invoices: so two that meet wait, and never for each other.

import { sql } from 'kysely';
import { MAX_RIALS, type Outside, type RefType } from '../../billing/ledger.ts';
import type { Database } from '../postgres/database.ts';

interface LockedWallet {
  readonly accountId: number;
  readonly balanceRials: number;
  readonly negativeSince: Date | null;
}

/** Locks the wallets of these accounts until the end of the transaction, and makes those that are missing. */
export async function lockWallets(
  trx: Database,
  accountIds: readonly number[],
): Promise<Map<number, LockedWallet>> {
  const ids = [...new Set(accountIds)].sort((a, b) => a - b);
  await sql`
    insert into wallets (account_id) select id from unnest(${ids}::bigint[]) id order by id
    on conflict do nothing`.execute(trx);
  const { rows } = await sql<LockedWallet>`
    select account_id as "accountId", balance_rials as "balanceRials", negative_since as "negativeSince"
    from wallets where account_id = any(${ids}::bigint[]) order by account_id for no key update`.execute(trx);
  return new Map(rows.map((row) => [row.accountId, row]));
}

export interface Movement {
  readonly from: Side;
  readonly to: Side;
  /** More than 0. */
  readonly amountRials: number;
  readonly refType: RefType;
  readonly refId?: number | undefined;
  /** Read on both rows. */
  readonly description: string;
  readonly at: Date;
}

type Side =
  /** `floorRials`: the balance that must be left; by default 0. */
  { readonly accountId: number; readonly floorRials?: number } | { readonly outside: Outside };

export type Moved =
  | {
      readonly kind: 'moved';
      readonly movementId: number;
      /** The balances of the wallets of both sides afterwards; undefined: outside. */
      readonly from: number | undefined;
      readonly to: number | undefined;
    }
  /** Nothing is written: the wallet holds too little, or would hold more than is counted. */
  | { readonly kind: 'short' | 'full'; readonly balanceRials: number };

/** Both rows and both balances, or nothing. */
export async function moveMoney(trx: Database, movement: Movement): Promise<Moved> {
  const { from, to, amountRials } = movement;
  if (!Number.isSafeInteger(amountRials) || amountRials <= 0 || amountRials > MAX_RIALS) {
    throw new RangeError(`an amount is a whole number of rials from 1 to ${MAX_RIALS}, not ${amountRials}`);
  }
  const wallets = await lockWallets(
    trx,
    [from, to].flatMap((side) => ('accountId' in side ? [side.accountId] : [])),
  );
  const balanceOf = (side: Side) => ('accountId' in side ? balanceIn(wallets, side.accountId) : undefined);
  const [source, target] = [balanceOf(from), balanceOf(to)];
  const floor = 'accountId' in from ? (from.floorRials ?? 0) : 0;
  if (source !== undefined && source - amountRials < floor) return { kind: 'short', balanceRials: source };
  if (target !== undefined && target + amountRials > MAX_RIALS) return { kind: 'full', balanceRials: target };
  const { rows } = await sql<{ id: number }>`select nextval('movement_id') as id`.execute(trx);
  const movementId = (rows[0] as { id: number }).id;
  return {
    kind: 'moved',
    movementId,
    from: await book(trx, movementId, movement, from, -amountRials),
    to: await book(trx, movementId, movement, to, amountRials),
  };
}

function balanceIn(wallets: ReadonlyMap<number, LockedWallet>, accountId: number): number {
  return (wallets.get(accountId) as LockedWallet).balanceRials;
}

/** The wallet's new balance and its row in the ledger. A balance that reaches zero ends the debt. */
async function book(
  trx: Database,
  movementId: number,
  { refType, refId = undefined, description, at }: Movement,
  side: Side,
  amountRials: number,
): Promise<number | undefined> {
  const common = {
    movement_id: movementId,
    amount_rials: amountRials,
    ref_type: refType,
    ref_id: refId ?? null,
    description,
    created_at: at,
  };
  if (!('accountId' in side)) {
    await trx
      .insertInto('ledger')
      .values({ ...common, account_id: null, outside: side.outside, balance_rials: null })
      .execute();
    return undefined;
  }
  const { accountId } = side;
  const { rows } = await sql<{ balance: number }>`
    update wallets set balance_rials = balance_rials + ${amountRials}::bigint,
      negative_since = case when balance_rials + ${amountRials}::bigint < 0 then coalesce(negative_since, ${at}) end,
      suspended_at = case when balance_rials + ${amountRials}::bigint < 0 then suspended_at end
    where account_id = ${accountId} returning balance_rials as balance`.execute(trx);
  const balance = (rows[0] as { balance: number }).balance;
  await trx
    .insertInto('ledger')
    .values({ ...common, account_id: accountId, outside: null, balance_rials: balance })
    .execute();
  return balance;
}
