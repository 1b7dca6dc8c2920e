// Credentials of people: password, email address, and single-use links (to sign in, set a new password, register, or
// confirm an email address). Only the hash of a link is stored.

import { sql } from 'kysely';
import { ACCOUNT_JSON, type Account, type AccountJson, accountOf, emailKeyOf } from '../accounts/accounts.ts';
import { hashSecret, isSecretText, makeSecretText } from '../accounts/hashed-secrets.ts';
import type { Database } from '../postgres/database.ts';

export interface Credentials {
  readonly account: Account;
  /** Null if no password was set yet. */
  readonly passwordHash: string | null;
  /** In microseconds. */
  readonly passwordSetAt: string | null;
  readonly hasTotp: boolean;
  /** True if an identity of an identity provider is linked. */
  readonly hasIdentity: boolean;
}

type AccountKey = { readonly email: string } | { readonly accountId: number };

const isAccount = (of: AccountKey) =>
  'email' in of ? sql`a.email_key = ${emailKeyOf(of.email)}` : sql`a.id = ${of.accountId}`;

/**
 * Locks the account until the transaction ends, so that `lockOut` and other changes of it wait, and returns its credentials.
 * Must run before the account's identities and sessions are locked.
 */
export async function lockCredentials(trx: Database, of: AccountKey): Promise<Credentials | undefined> {
  await sql`select from accounts a where ${isAccount(of)} for no key update`.execute(trx);
  return await loadCredentials(trx, of); // a second statement, because the first may have waited for a change
}

export async function loadCredentials(db: Database, of: AccountKey): Promise<Credentials | undefined> {
  const { rows } = await sql<Omit<Credentials, 'account'> & { account: AccountJson }>`
    select ${ACCOUNT_JSON} as account, a.password_hash as "passwordHash",
      a.password_set_at::text as "passwordSetAt",
      exists (select from account_totp t where t.account_id = a.id and t.confirmed_at is not null) as "hasTotp",
      exists (select from account_identities i where i.account_id = a.id) as "hasIdentity"
    from accounts a left join plans p on p.id = a.plan_id where ${isAccount(of)}`.execute(db);
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

/** Sets and confirms the new email. Returns false if another account has it. */
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

/** Confirms the email after its mailed link was opened. */
export async function confirmEmail(trx: Database, accountId: number): Promise<void> {
  await sql`update accounts set email_confirmed_at = coalesce(email_confirmed_at, clock_timestamp())
    where id = ${accountId}`.execute(trx);
}

type LinkKind = 'sign-in' | 'reset' | 'register' | 'email';

export const LINK_MINUTES: Readonly<Record<LinkKind, number>> = {
  'sign-in': 15,
  reset: 30,
  register: 24 * 60,
  email: 24 * 60,
};
/** A link that appears to be created this much in the future is from before the clock was set back. */
const SKEW_MINUTES = 5;

interface NewLink {
  readonly kind: LinkKind;
  readonly accountId?: number;
  /** The email to register or to confirm. */
  readonly email?: string;
}

/** Returns the token, a secret that must not be logged or stored. */
export async function makeLink(db: Database, { kind, accountId, email }: NewLink): Promise<string> {
  const token = makeSecretText('lnk_');
  await sql`
    insert into account_links (hash, kind, account_id, email, expires_at)
    values (${hashSecret(token)}, ${kind}, ${accountId ?? null}, ${email ?? null},
      clock_timestamp() + make_interval(mins => ${LINK_MINUTES[kind]}::integer))`.execute(db);
  return token;
}

interface TakenLink {
  readonly accountId: number | null;
  readonly email: string | null;
}

/** Consumes the link. Returns undefined if it does not exist, was used, or has expired. */
export async function takeLink(trx: Database, kind: LinkKind, token: string): Promise<TakenLink | undefined> {
  if (!isSecretText('lnk_', token)) return undefined;
  const { rows } = await sql<TakenLink>`
    delete from account_links
    where hash = ${hashSecret(token)} and kind = ${kind} and expires_at > clock_timestamp()
      and created_at < clock_timestamp() + make_interval(mins => ${SKEW_MINUTES}::integer)
    returning account_id as "accountId", email`.execute(trx);
  return rows[0];
}

/** Invalidates all mailed links of the account after its password or email changed. */
export async function dropLinks(trx: Database, accountId: number): Promise<void> {
  await sql`delete from account_links where account_id = ${accountId}`.execute(trx);
}
