// API keys: a fixed prefix and 40 random base62 characters. Only the hash is stored. The text is shown once.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import {
  type FoundCredential,
  findCredentials,
  hashSecret,
  randomBase62,
  touchCredential,
} from './hashed-secrets.ts';

const KEY_PREFIX = 'svc_';
const KEY_CHARACTERS = 40;
const SHOWN_CHARACTERS = KEY_PREFIX.length + 6;

export interface ApiKey {
  readonly id: number;
  readonly accountId: number;
  readonly name: string;
  /** The first characters of the key's text. */
  readonly prefix: string;
  readonly readOnly: boolean;
  /** Restrictions of the key; null for unrestricted. Domains and names are lower-case without the final dot. */
  readonly domains: readonly string[] | null;
  readonly names: readonly string[] | null;
  readonly types: readonly string[] | null;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly lastUsedAt: Date | null;
  readonly createdAt: Date;
}

export interface NewApiKey {
  readonly accountId: number;
  readonly name: string;
  readonly readOnly?: boolean;
  readonly domains?: readonly string[] | null;
  readonly names?: readonly string[] | null;
  readonly types?: readonly string[] | null;
  readonly expiresAt?: Date | null;
}

export function generateKey(): string {
  return KEY_PREFIX + randomBase62(KEY_CHARACTERS);
}

export function isKeyText(text: string): boolean {
  return /^svc_[0-9A-Za-z]{40}$/.test(text);
}

export function hashKey(text: string): Buffer {
  return hashSecret(text);
}

const COLUMNS = sql`c.id, c.account_id as "accountId", c.name, c.prefix, c.read_only as "readOnly", c.domains, c.names,
  c.types, c.expires_at as "expiresAt", c.revoked_at as "revokedAt", c.last_used_at as "lastUsedAt",
  c.created_at as "createdAt"`;

/** Creates a key with the text that `generateKey` or the operator made. Returns undefined if the key exists already. */
export async function createApiKey(db: Database, text: string, key: NewApiKey): Promise<ApiKey | undefined> {
  if (!isKeyText(text)) throw new RangeError('this is not an API key');
  const { rows } = await sql<ApiKey>`
    insert into api_keys as c (account_id, name, prefix, hash, read_only, domains, names, types, expires_at)
    values (${key.accountId}, ${key.name}, ${text.slice(0, SHOWN_CHARACTERS)}, ${hashKey(text)},
      ${key.readOnly ?? false}, ${key.domains ?? null}::text[], ${key.names ?? null}::text[],
      ${key.types ?? null}::text[], ${key.expiresAt ?? null})
    on conflict (hash) do nothing
    returning ${COLUMNS}`.execute(db);
  return rows[0];
}

export type FoundKey = FoundCredential<ApiKey>;

export function findApiKeys(db: Database, hashes: readonly Buffer[]): Promise<Map<string, FoundKey>> {
  return findCredentials<ApiKey>(db, 'api_keys', COLUMNS, hashes);
}

export function touchApiKey(db: Database, id: number): Promise<void> {
  return touchCredential(db, 'api_keys', id);
}

export async function listApiKeys(db: Database, accountId?: number): Promise<ApiKey[]> {
  const { rows } = await sql<ApiKey>`
    select ${COLUMNS} from api_keys c
    where ${accountId ?? null}::bigint is null or c.account_id = ${accountId ?? null}::bigint
    order by c.id`.execute(db);
  return rows;
}

/** Lists keys that are not revoked, newest first. */
export async function listOwnKeys(db: Database, accountId: number): Promise<ApiKey[]> {
  const { rows } = await sql<ApiKey>`
    select ${COLUMNS} from api_keys c where c.account_id = ${accountId} and c.revoked_at is null
    order by c.id desc`.execute(db);
  return rows;
}

/** Returns undefined if the account has no such active key. */
export async function revokeOwnKey(db: Database, accountId: number, id: number): Promise<ApiKey | undefined> {
  const { rows } = await sql<ApiKey>`
    update api_keys c set revoked_at = clock_timestamp()
    where c.id = ${id} and c.account_id = ${accountId} and c.revoked_at is null
    returning ${COLUMNS}`.execute(db);
  return rows[0];
}

/**
 * Finds the keys that an operator names by id, by whole text, or by the first characters as `prefix` has them. If
 * several match, revoked keys are left out.
 */
export async function findKeyIds(db: Database, named: string): Promise<number[]> {
  const by = isKeyText(named)
    ? sql`hash = ${hashKey(named)}`
    : /^[0-9]{1,15}$/.test(named)
      ? sql`id = ${Number(named)}`
      : sql`prefix = ${named.replace(/…$/, '')}`;
  const { rows } = await sql<{ id: number; isRevoked: boolean }>`
    select id, revoked_at is not null as "isRevoked" from api_keys where ${by} order by id`.execute(db);
  const valid = rows.filter(({ isRevoked }) => !isRevoked);
  return (valid.length > 0 ? valid : rows.slice(0, 1)).map(({ id }) => id);
}

/** Revokes a key. Returns undefined if it does not exist. Does nothing if it is already revoked. */
export async function revokeApiKey(db: Database, id: number): Promise<ApiKey | undefined> {
  const { rows } = await sql<ApiKey>`
    update api_keys c set revoked_at = coalesce(c.revoked_at, clock_timestamp())
    where c.id = ${id}
    returning ${COLUMNS}`.execute(db);
  return rows[0];
}
