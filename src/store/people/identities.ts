// Identities at an identity provider (OpenID Connect) that are linked to accounts.

import { sql } from 'kysely';
import { hashSecret } from '../accounts/hashed-secrets.ts';
import type { Database } from '../postgres/database.ts';
import { lockCredentials } from './credentials.ts';

/** The key of an identity. An email address is not one, because it may be given to another person. */
interface IdentityKey {
  readonly issuer: string;
  readonly subject: string;
}

export interface Identity extends IdentityKey {
  readonly id: number;
  readonly accountId: number;
  /** The email address that the provider reported last. */
  readonly email: string | null;
  readonly createdAt: Date;
  /** Null if the identity was not used to sign in yet. */
  readonly usedAt: Date | null;
}

const COLUMNS = sql`i.id, i.account_id as "accountId", i.issuer, i.subject, i.email, i.created_at as "createdAt",
  i.used_at as "usedAt"`;

export async function findIdentity(
  db: Database,
  { issuer, subject }: IdentityKey,
): Promise<Identity | undefined> {
  const { rows } = await sql<Identity>`
    select ${COLUMNS} from account_identities i where i.issuer = ${issuer} and i.subject = ${subject}`.execute(
    db,
  );
  return rows[0];
}

/** Lists the identities of an account, oldest first. */
export async function listIdentities(db: Database, accountId: number): Promise<Identity[]> {
  const { rows } = await sql<Identity>`
    select ${COLUMNS} from account_identities i where i.account_id = ${accountId} order by i.id`.execute(db);
  return rows;
}

interface NewIdentity extends IdentityKey {
  readonly accountId: number;
  readonly email: string | null;
}

/**
 * Returns the reason if the account is not active, if the identity is linked already, or if the account has another
 * identity of this issuer. Locks the account, so that `lockOut` either waits and removes the identity, or comes first.
 */
export async function linkIdentity(
  trx: Database,
  { accountId, issuer, subject, email }: NewIdentity,
): Promise<Identity | string> {
  const who = await lockCredentials(trx, { accountId });
  if (who?.account.active !== true) return 'the account is inactive: activate it first';
  const { rows } = await sql<Identity>`
    insert into account_identities as i (account_id, issuer, subject, email)
    values (${accountId}, ${issuer}, ${subject}, ${email}) on conflict do nothing returning ${COLUMNS}`.execute(
    trx,
  );
  return rows[0] ?? 'this identity, or an identity of this provider, is already linked to an account';
}

/** Returns undefined if the account has no such identity. */
export async function unlinkIdentity(
  trx: Database,
  accountId: number,
  id: number,
): Promise<Identity | undefined> {
  await dropProof(trx, accountId);
  const { rows } = await sql<Identity>`
    delete from account_identities i where i.id = ${id} and i.account_id = ${accountId} returning ${COLUMNS}`.execute(
    trx,
  );
  return rows[0];
}

/** Removes all identities of an account, and returns them. */
export async function unlinkIdentities(trx: Database, accountId: number): Promise<Identity[]> {
  await dropProof(trx, accountId);
  const { rows } = await sql<Identity>`
    delete from account_identities i where i.account_id = ${accountId} returning ${COLUMNS}`.execute(trx);
  return rows;
}

/** Returns false if the identity was removed meanwhile. */
export async function noteIdentityUse(trx: Database, id: number, email: string | null): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update account_identities set used_at = clock_timestamp(), email = ${email} where id = ${id}`.execute(
    trx,
  );
  return numAffectedRows === 1n;
}

const PROOF_MINUTES = 5;

/**
 * Stores what the provider confirmed until the code of two-step sign-in is entered, because a provider accepts its own
 * code only once. `cookie` is the browser's cookie. Replaces an earlier proof of the account.
 */
export async function saveProof(
  db: Database,
  accountId: number,
  { cookie, identity }: { readonly cookie: string; readonly identity: object },
): Promise<void> {
  await sql`
    insert into identity_proofs (account_id, hash, identity, expires_at)
    values (${accountId}, ${hashSecret(cookie)}, ${JSON.stringify(identity)}::json,
      clock_timestamp() + make_interval(mins => ${PROOF_MINUTES}::integer))
    on conflict (account_id) do update set hash = excluded.hash, identity = excluded.identity,
      expires_at = excluded.expires_at`.execute(db);
}

/** Returns what `saveProof` stored for this cookie, or undefined. */
export async function loadProof(db: Database, cookie: string): Promise<unknown> {
  const { rows } = await sql<{ identity: unknown }>`
    select identity from identity_proofs
    where hash = ${hashSecret(cookie)} and expires_at > clock_timestamp()
      and expires_at < clock_timestamp() + make_interval(mins => ${2 * PROOF_MINUTES}::integer)`.execute(db);
  return rows[0]?.identity;
}

export async function dropProof(trx: Database, accountId: number): Promise<void> {
  await sql`delete from identity_proofs where account_id = ${accountId}`.execute(trx);
}
