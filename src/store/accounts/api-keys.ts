// API keys: 40 random base62 characters behind a fixed prefix. Only their hash is stored; the text is shown once.

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
  /** What the key is narrowed to; null: everything. Domains and names are lower-case without the final dot. */
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

/** Makes a new key's text. */
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

/** `text` comes from `generateKey`, or from the operator. Undefined when that key exists already. */
export async function createApiKey(db: Database, text: string, key: NewApiKey): Promise<ApiKey | undefined> {
  if (!isKeyText(text)) throw new RangeError('this is not the text of a key');
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

/** Those that are not revoked, the newest first. */
export async function listOwnKeys(db: Database, accountId: number): Promise<ApiKey[]> {
  const { rows } = await sql<ApiKey>`
    select ${COLUMNS} from api_keys c where c.account_id = ${accountId} and c.revoked_at is null
    order by c.id desc`.execute(db);
  return rows;
}

/** Undefined when the account has no such key that is not revoked. */
export async function revokeOwnKey(db: Database, accountId: number, id: number): Promise<ApiKey | undefined> {
  const { rows } = await sql<ApiKey>`
    update api_keys c set revoked_at = clock_timestamp()
    where c.id = ${id} and c.account_id = ${accountId} and c.revoked_at is null
    returning ${COLUMNS}`.execute(db);
  return rows[0];
}

/**
 * The keys that an operator means: by an id in digits, by a whole text, or by its first characters as `prefix` has them. Of
 * several that begin so, those that are revoked already are not meant.
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

/** Undefined when there is no such key; revoking twice changes nothing. */
export async function revokeApiKey(db: Database, id: number): Promise<ApiKey | undefined> {
  const { rows } = await sql<ApiKey>`
    update api_keys c set revoked_at = coalesce(c.revoked_at, clock_timestamp())
    where c.id = ${id}
    returning ${COLUMNS}`.execute(db);
  return rows[0];
}
