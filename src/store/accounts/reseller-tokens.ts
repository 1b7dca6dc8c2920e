// Machine tokens of resellers: `rsl_`, a public id, and a secret. Only the hash is stored. The text is shown once.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import {
  type FoundCredential,
  findCredentials,
  hashSecret,
  randomBase62,
  touchCredential,
} from './hashed-secrets.ts';

const ID_CHARACTERS = 12;
/** 256 random bits. */
const SECRET_CHARACTERS = 43;
/** This many revoked tokens stay listed. */
const REVOKED_KEPT = 100;

export interface ResellerToken {
  readonly id: number;
  readonly accountId: number;
  readonly name: string;
  readonly keyId: string;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  /** Accurate to the minute. */
  readonly lastUsedAt: Date | null;
  readonly createdAt: Date;
}

interface NewToken {
  readonly accountId: number;
  readonly name: string;
  readonly expiresAt: Date | null;
}

export function isTokenText(text: string): boolean {
  return /^rsl_[0-9A-Za-z]{12}_[0-9A-Za-z]{43}$/.test(text);
}

const COLUMNS = sql`c.id, c.account_id as "accountId", c.name, c.key_id as "keyId", c.expires_at as "expiresAt",
  c.revoked_at as "revokedAt", c.last_used_at as "lastUsedAt", c.created_at as "createdAt"`;

/** Returns undefined if the account already has the maximum number of active tokens, or was deactivated meanwhile. */
export async function mintToken(
  trx: Database,
  { accountId, name, expiresAt }: NewToken,
  most: number,
): Promise<{ readonly token: ResellerToken; readonly text: string } | undefined> {
  // Two concurrent calls could otherwise exceed the maximum, and a token could outlive `lockOut`.
  const { rows: active } = await sql`
    select from accounts where id = ${accountId} and active for no key update`.execute(trx);
  if (active.length === 0) return undefined;
  const { rows: counted } = await sql<{ count: number }>`
    select count(*) as count from reseller_tokens where account_id = ${accountId} and revoked_at is null`.execute(
    trx,
  );
  if ((counted[0]?.count ?? 0) >= most) return undefined;
  const keyId = randomBase62(ID_CHARACTERS);
  const text = `rsl_${keyId}_${randomBase62(SECRET_CHARACTERS)}`;
  const { rows } = await sql<ResellerToken>`
    insert into reseller_tokens as c (account_id, name, key_id, hash, expires_at)
    values (${accountId}, ${name}, ${keyId}, ${hashSecret(text)}, ${expiresAt}) returning ${COLUMNS}`.execute(
    trx,
  );
  return { token: rows[0] as ResellerToken, text };
}

export type FoundToken = FoundCredential<ResellerToken>;

export function findTokens(db: Database, hashes: readonly Buffer[]): Promise<Map<string, FoundToken>> {
  return findCredentials<ResellerToken>(db, 'reseller_tokens', COLUMNS, hashes);
}

export function touchToken(db: Database, id: number): Promise<void> {
  return touchCredential(db, 'reseller_tokens', id);
}

/** Lists tokens, newest first, including the most recently revoked ones. */
export async function listTokens(db: Database, accountId: number): Promise<ResellerToken[]> {
  const { rows } = await sql<ResellerToken>`
    select ${COLUMNS} from reseller_tokens c where c.account_id = ${accountId} order by c.id desc`.execute(
    db,
  );
  return rows;
}

/** Returns undefined if the account has no such active token. */
export async function revokeToken(
  trx: Database,
  accountId: number,
  id: number,
): Promise<ResellerToken | undefined> {
  const { rows } = await sql<ResellerToken>`
    update reseller_tokens c set revoked_at = clock_timestamp()
    where c.id = ${id} and c.account_id = ${accountId} and c.revoked_at is null returning ${COLUMNS}`.execute(
    trx,
  );
  if (rows[0] === undefined) return undefined;
  await sql`
    delete from reseller_tokens where id in (
      select id from reseller_tokens where account_id = ${accountId} and revoked_at is not null
      order by revoked_at desc, id desc offset ${REVOKED_KEPT})`.execute(trx);
  return rows[0];
}
