// What proves who somebody is: password, TOTP, and the email that both belong to.

import { sql } from 'kysely';
import { ACCOUNT_JSON, type Account, type AccountJson, accountOf } from '../accounts/accounts.ts';
import { emailKeyOf } from '../accounts/email-address.ts';
import type { Database } from '../postgres/database.ts';

export interface Credentials {
  readonly account: Account;
  /** Null: none was set yet. */
  readonly passwordHash: string | null;
  readonly hasTotp: boolean;
}

export async function loadCredentials(
  db: Database,
  of: { readonly email: string } | { readonly accountId: number },
): Promise<Credentials | undefined> {
  const who = 'email' in of ? sql`a.email_key = ${emailKeyOf(of.email)}` : sql`a.id = ${of.accountId}`;
  const { rows } = await sql<Omit<Credentials, 'account'> & { account: AccountJson }>`
    select ${ACCOUNT_JSON} as account, a.password_hash as "passwordHash",
      exists (select from account_totp t where t.account_id = a.id and t.confirmed_at is not null) as "hasTotp"
    from accounts a left join plans p on p.id = a.plan_id where ${who}`.execute(db);
  const [row] = rows;
  return row && { ...row, account: accountOf(row.account) };
}

export async function setPassword(trx: Database, accountId: number, hash: string): Promise<void> {
  await sql`update accounts set password_hash = ${hash}, password_set_at = clock_timestamp(),
    updated_at = clock_timestamp() where id = ${accountId}`.execute(trx);
}

export async function setName(db: Database, accountId: number, name: string | null): Promise<void> {
  await sql`update accounts set name = ${name}, updated_at = clock_timestamp() where id = ${accountId}`.execute(
    db,
  );
}

/** The new email is confirmed. False: another account has it. */
export async function setEmail(trx: Database, accountId: number, email: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update accounts set email = ${email}, email_key = ${emailKeyOf(email)}, email_confirmed_at = clock_timestamp(),
      updated_at = clock_timestamp()
    where id = ${accountId}
      and not exists (select from accounts where email_key = ${emailKeyOf(email)} and id <> ${accountId})`.execute(
    trx,
  );
  return numAffectedRows === 1n;
}

/** The link that was mailed to it was opened. */
export async function confirmEmail(trx: Database, accountId: number): Promise<void> {
  await sql`update accounts set email_confirmed_at = coalesce(email_confirmed_at, clock_timestamp())
    where id = ${accountId}`.execute(trx);
}
