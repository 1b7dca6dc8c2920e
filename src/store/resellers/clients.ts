// The clients of a reseller: accounts that it makes and manages. A client has an email that no account had.

import { sql } from 'kysely';
import { type Account, createAccount, loadAccount, updateAccount } from '../accounts/accounts.ts';
import type { Database } from '../postgres/database.ts';
import { inTransaction } from '../postgres/transaction.ts';

/** How many calls that would make a client a reseller has in a day, whether or not they do: each tells if an email is taken. */
const TRIES_A_DAY = 100;

/** Counts one. Undefined: it may be tried; else the seconds to wait. */
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
  /** The account is no reseller any more. */
  | { readonly kind: 'no_reseller' };

export async function createClient(
  db: Database,
  resellerId: number,
  { email, name }: { readonly email: string; readonly name: string | null },
): Promise<CreatedClient> {
  return await inTransaction<CreatedClient>(db, async (trx) => {
    // Nobody takes its right away meanwhile: an account with clients is a reseller.
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
  /** Only the operator may. */
  | { readonly kind: 'refused'; readonly message: string };

/** Deactivates a client, or takes that back. */
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
      return { kind: 'refused', message: 'the operator has deactivated this account' };
    if (!active && before.isAdmin)
      return { kind: 'refused', message: 'a global admin is deactivated by the operator only' };
    const account = await updateAccount(trx, clientId, { active, by: resellerId });
    return { kind: 'switched', isChanged: true, account: account as Account };
  });
}

/** Locks the client until the end of the transaction: it stays this reseller's. False: it is not. */
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
