// Creates, lists and suspends the clients of resellers, and transfers money to them.

import { sql } from 'kysely';
import { type Account, createAccount, loadAccount, updateAccount } from '../../store/accounts/accounts.ts';
import { countInWindow } from '../../store/accounts/rate-windows.ts';
import { currentTime } from '../../store/postgres/current-time.ts';
import type { Database } from '../../store/postgres/database.ts';
import { inTransaction } from '../../store/postgres/transaction.ts';
import { moveMoney } from '../money/sql-wallet.ts';

/** Maximum number of attempts to create a client per day, because each attempt reveals whether an email is taken. */
const TRIES_A_DAY = 100;

/** Counts an attempt. Returns undefined if it is allowed, otherwise the seconds to wait. */
export async function takeClientTry(db: Database, resellerId: number): Promise<number | undefined> {
  const { rows } = await sql<{ tries: number; seconds: number }>`
    insert into client_tries as t (account_id, since, tries) values (${resellerId}, clock_timestamp(), 1)
    on conflict (account_id) do update set
      tries = case when t.since > clock_timestamp() - interval '1 day'
        then least(t.tries + 1, ${TRIES_A_DAY + 1}::integer) else 1 end,
      since = case when t.since > clock_timestamp() - interval '1 day' then t.since else clock_timestamp() end
    returning t.tries, ceil(extract(epoch from t.since + interval '1 day' - clock_timestamp()))::integer as seconds`.execute(
    db,
  );
  const { tries, seconds } = rows[0] as { tries: number; seconds: number };
  return tries > TRIES_A_DAY ? Math.max(1, seconds) : undefined;
}

type CreatedClient =
  | { readonly kind: 'created'; readonly account: Account }
  | { readonly kind: 'taken'; readonly message: string }
  /** The account is no longer a reseller. */
  | { readonly kind: 'no_reseller' };

export async function createClient(
  db: Database,
  resellerId: number,
  { email, name }: { readonly email: string; readonly name: string | null },
): Promise<CreatedClient> {
  return await inTransaction<CreatedClient>(db, async (trx) => {
    // The lock ensures that an account with clients is a reseller.
    const { rows } = await sql`
      select from accounts where id = ${resellerId} and is_reseller for share`.execute(trx);
    if (rows.length === 0) return { kind: 'no_reseller' };
    const created = await createAccount(trx, { email, name, providerId: resellerId });
    if (created.kind === 'created') return created;
    if (created.kind === 'unknown_plan') throw new Error(created.message);
    return { kind: 'taken', message: created.message };
  });
}

type SwitchedClient =
  | { readonly kind: 'switched'; readonly isChanged: boolean; readonly account: Account }
  | { readonly kind: 'absent' }
  /** Only the operator may do this. */
  | { readonly kind: 'refused'; readonly message: string };

/** Deactivates or reactivates a client. */
export async function switchClient(
  db: Database,
  { resellerId, clientId, active }: { resellerId: number; clientId: number; active: boolean },
): Promise<SwitchedClient> {
  return await inTransaction<SwitchedClient>(db, async (trx) => {
    const { rows } = await sql<{ by: number | null }>`
      select deactivated_by as by from accounts
      where id = ${clientId} and provider_id = ${resellerId} for no key update`.execute(trx);
    const before = rows[0] && (await loadAccount(trx, clientId));
    if (rows[0] === undefined || before === undefined) return { kind: 'absent' };
    if (before.active === active) return { kind: 'switched', isChanged: false, account: before };
    if (active && rows[0].by !== resellerId)
      return { kind: 'refused', message: 'the operator deactivated this account' };
    if (!active && before.isAdmin)
      return { kind: 'refused', message: 'only the operator can deactivate a global admin' };
    const account = await updateAccount(trx, clientId, { active, by: resellerId });
    return { kind: 'switched', isChanged: true, account: account as Account };
  });
}

/** Locks the client, so that it remains this reseller's client. Returns false if it is not. */
export async function holdClient(
  trx: Database,
  { resellerId, clientId }: { readonly resellerId: number; readonly clientId: number },
  isToBeWritten: boolean,
): Promise<boolean> {
  const lock = isToBeWritten ? sql`for no key update` : sql`for share`;
  const { rows } = await sql`
    select from accounts where id = ${clientId} and provider_id = ${resellerId} ${lock}`.execute(trx);
  return rows.length > 0;
}

interface ListedReseller {
  readonly id: number;
  readonly email: string;
  readonly active: boolean;
  readonly clients: number;
  readonly balanceRials: number;
  readonly negativeSince: Date | null;
  /** Since when the domains of the reseller and of its clients are suspended. */
  readonly suspendedAt: Date | null;
}

/** Sorted by email. */
export async function listResellers(db: Database): Promise<ListedReseller[]> {
  const { rows } = await sql<ListedReseller>`
    select a.id, a.email, a.active, coalesce(w.balance_rials, 0) as "balanceRials",
      w.negative_since as "negativeSince", w.suspended_at as "suspendedAt",
      (select count(*) from accounts client where client.provider_id = a.id) as clients
    from accounts a left join wallets w on w.account_id = a.id
    where a.is_reseller order by lower(a.email) collate "C"`.execute(db);
  return rows;
}

interface ListedClient {
  readonly id: number;
  readonly email: string;
  readonly active: boolean;
  readonly balanceRials: number;
  /** Number of domains that are not deleted. */
  readonly domains: number;
}

/** Lists clients by email, from the first one after `after`. */
export async function listClientsOf(
  db: Database,
  resellerId: number,
  { after = '', limit }: { readonly after?: string; readonly limit: number },
): Promise<ListedClient[]> {
  const { rows } = await sql<ListedClient>`
    select a.id, a.email, a.active, coalesce(w.balance_rials, 0) as "balanceRials",
      (select count(*) from domains d where d.account_id = a.id and d.deleted_at is null) as domains
    from accounts a left join wallets w on w.account_id = a.id
    where a.provider_id = ${resellerId} and lower(a.email) collate "C" > lower(${after})
    order by lower(a.email) collate "C" limit ${limit}`.execute(db);
  return rows;
}

interface Transfer {
  readonly resellerId: number;
  readonly clientId: number;
  /** `credit` moves money to the client. */
  readonly direction: 'credit' | 'debit';
  readonly amountRials: number;
  readonly description: string;
}

type Transferred =
  | { readonly kind: 'moved'; readonly resellerRials: number; readonly clientRials: number }
  /** The balance of the payer would be too low, or that of the receiver would exceed the largest amount. */
  | { readonly kind: 'short' | 'full' }
  | { readonly kind: 'not_owned' }
  | { readonly kind: 'too_often'; readonly waitSeconds: number };

/** Limit per reseller, because transfers back and forth cost nothing and are stored permanently. */
const TRANSFERS = { limit: 10_000, seconds: 86_400 };

export async function transfer(db: Database, wanted: Transfer): Promise<Transferred> {
  const { resellerId, clientId, direction, amountRials, description } = wanted;
  return await inTransaction<Transferred>(db, async (trx) => {
    const waitSeconds = await countInWindow(trx, `transfers:${resellerId}`, TRANSFERS);
    if (waitSeconds !== undefined) return { kind: 'too_often', waitSeconds };
    if (!(await holdClient(trx, wanted, false))) return { kind: 'not_owned' };
    const isCredit = direction === 'credit';
    const [from, to] = isCredit ? [resellerId, clientId] : [clientId, resellerId];
    const moved = await moveMoney(trx, {
      from: { accountId: from },
      to: { accountId: to },
      amountRials,
      refType: 'reseller_transfer',
      description,
      at: await currentTime(trx),
    });
    if (moved.kind !== 'moved') return { kind: moved.kind };
    const [source, target] = [moved.from as number, moved.to as number];
    return {
      kind: 'moved',
      resellerRials: isCredit ? source : target,
      clientRials: isCredit ? target : source,
    };
  });
}
