// TSIG keys of the operator and of accounts. Keys that this fleet created have use `serve`: peers sign with them. Imported
// keys have use `fetch`: a primary chose their name and secret. Both can sign the fleet's own messages.

import { randomBytes, randomInt } from 'node:crypto';
import { sql } from 'kysely';
import type { TsigAlgorithm, TsigKey } from '../../dns/message/tsig.ts';
import { type Name, printName } from '../../dns/name.ts';
import type { Database } from '../postgres/database.ts';
import type { KeySecret } from '../secrets/key-boxes.ts';
import { type SealedTsigKey, sealTsigKey, unsealTsigKey } from '../secrets/tsig-secrets.ts';

/** Octets of the secrets that the fleet creates: the length of the hash (RFC 2104 §3). */
const SECRET_OCTETS: Readonly<Record<TsigAlgorithm, number>> = {
  'hmac-sha256': 32,
  'hmac-sha384': 48,
  'hmac-sha512': 64,
};
export const TSIG_ALGORITHMS = Object.keys(SECRET_OCTETS) as [TsigAlgorithm, ...TsigAlgorithm[]];

/** Maximum number of keys of an account that are not revoked. */
export const MOST_KEYS = 20;
/** Number of revoked keys that stay listed. */
const REVOKED_KEPT = 20;
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';
const SUFFIX_CHARACTERS = 6;

export interface TsigKeyRow {
  readonly id: number;
  /** Null for a key of the operator. */
  readonly accountId: number | null;
  /** Folded text with the final dot. */
  readonly name: string;
  readonly algorithm: TsigAlgorithm;
  readonly use: 'serve' | 'fetch';
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
  readonly lastUsedAt: Date | null;
  /** Number of peers that use the key. */
  readonly peers: number;
  /** Number of names that the key may change by dynamic update. */
  readonly grants: number;
}

/** Peers of deleted domains do not count, because no one can change them. */
const COLUMNS = sql`k.id, k.account_id as "accountId", k.name, k.algorithm, k.use, k.created_at as "createdAt",
  k.revoked_at as "revokedAt", k.last_used_at as "lastUsedAt",
  (select count(*)::integer from peers p left join domains d on d.id = p.domain_id
    where p.key_id = k.id and d.deleted_at is null) as peers,
  (select count(*)::integer from update_grants g where g.key_id = k.id) as grants`;

interface KeyToStore {
  /** Null for the operator. */
  readonly accountId: number | null;
  readonly algorithm: TsigAlgorithm;
}

export type StoredKey =
  | { readonly kind: 'stored'; readonly key: TsigKeyRow; readonly secret: Uint8Array }
  /** The account has the maximum number of keys. */
  | { readonly kind: 'full' }
  /** The account has a key with this name. */
  | { readonly kind: 'exists' }
  /** The process has no TSIG_SECRETS, or not the ones that seal the stored keys. */
  | { readonly kind: 'unavailable'; readonly message: string };

/** Creates a key named `<label>-<6 random characters>.` with a random secret. */
export async function createKey(
  trx: Database,
  secrets: readonly KeySecret[],
  { label, ...key }: KeyToStore & { readonly label: string },
): Promise<StoredKey> {
  let suffix = '';
  for (let i = 0; i < SUFFIX_CHARACTERS; i++) suffix += BASE32[randomInt(BASE32.length)];
  const secret = randomBytes(SECRET_OCTETS[key.algorithm]);
  return await store(trx, secrets, { ...key, use: 'serve', name: `${label}-${suffix}.`, secret });
}

/** Stores the key of a primary. The name is folded text with the final dot. */
export async function importKey(
  trx: Database,
  secrets: readonly KeySecret[],
  key: KeyToStore & { readonly name: string; readonly secret: Uint8Array },
): Promise<StoredKey> {
  return await store(trx, secrets, { ...key, use: 'fetch' });
}

interface WholeKey extends KeyToStore {
  readonly name: string;
  readonly secret: Uint8Array;
  readonly use: 'serve' | 'fetch';
}

async function store(trx: Database, secrets: readonly KeySecret[], key: WholeKey): Promise<StoredKey> {
  const { accountId, name, algorithm, use, secret } = key;
  const sealed = sealTsigKey(secrets, name, secret);
  if (sealed === undefined)
    return {
      kind: 'unavailable',
      message: 'TSIG_SECRETS is not set, so the secrets of TSIG keys cannot be stored',
    };
  const { rows: others } = await sql<SealedTsigKey>`
    select name, wrap, sealed from tsig_keys where wrap = ${sealed.wrap} limit 1`.execute(trx);
  if (others.some((other) => unsealTsigKey(secrets, other) === undefined))
    return {
      kind: 'unavailable',
      message: `TSIG_SECRETS: "${sealed.wrap}" is not the secret that seals the stored keys`,
    };
  if (accountId !== null) {
    // Two concurrent calls could otherwise exceed the maximum.
    await sql`select from accounts where id = ${accountId} for no key update`.execute(trx);
    const active = (await listKeys(trx, accountId)).filter(({ revokedAt }) => revokedAt === null);
    if (active.length >= MOST_KEYS) return { kind: 'full' };
  }
  const { rows } = await sql<TsigKeyRow>`
    insert into tsig_keys as k (account_id, name, algorithm, use, wrap, sealed)
    values (${accountId}, ${name}, ${algorithm}, ${use}, ${sealed.wrap}, ${sealed.sealed})
    on conflict do nothing returning ${COLUMNS}`.execute(trx);
  const [stored] = rows;
  return stored === undefined ? { kind: 'exists' } : { kind: 'stored', key: stored, secret };
}

/** Lists the keys of an account, or of the operator (null), newest first, including the last revoked ones. */
export async function listKeys(db: Database, accountId: number | null): Promise<TsigKeyRow[]> {
  const { rows } = await sql<TsigKeyRow>`
    select ${COLUMNS} from tsig_keys k where k.account_id is not distinct from ${accountId}
    order by k.id desc`.execute(db);
  return rows;
}

export async function loadKey(
  db: Database,
  accountId: number | null,
  of: { readonly id: number } | { readonly name: string },
): Promise<TsigKeyRow | undefined> {
  const isIt = 'id' in of ? sql`k.id = ${of.id}` : sql`k.name = ${of.name}`;
  const { rows } = await sql<TsigKeyRow>`
    select ${COLUMNS} from tsig_keys k
    where k.account_id is not distinct from ${accountId} and ${isIt} and k.revoked_at is null`.execute(db);
  return rows[0];
}

/** Returns true if a peer uses the key, or if it may change names by dynamic update. */
export function isInUse({ peers, grants }: Pick<TsigKeyRow, 'peers' | 'grants'>): boolean {
  return peers > 0 || grants > 0;
}

/** Opens a key of the operator with the secrets. `name` is in lower case. */
export async function openKey(
  db: Database,
  secrets: readonly KeySecret[],
  name: Name,
): Promise<
  | { readonly kind: 'key'; readonly key: TsigKey }
  | { readonly kind: 'absent' }
  | { readonly kind: 'sealed'; readonly message: string }
> {
  const { rows } = await sql<SealedTsigKey & { algorithm: TsigAlgorithm }>`
    select name, algorithm, wrap, sealed from tsig_keys
    where account_id is null and name = ${printName(name)} and revoked_at is null
      and coalesce(expires_at > now(), true)
    order by id desc limit 1`.execute(db);
  const [row] = rows;
  if (row === undefined) return { kind: 'absent' };
  const secret = unsealTsigKey(secrets, row);
  if (secret === undefined)
    return { kind: 'sealed', message: `needs the secret "${row.wrap}" of TSIG_SECRETS` };
  return { kind: 'key', key: { name, algorithm: row.algorithm, secret } };
}

/**
 * Locks keys of an account, or of the operator, until the transaction ends, so that they are not revoked before a peer
 * uses them. Returns the use of those that exist and are not revoked, by id.
 */
export async function lockKeys(
  trx: Database,
  accountId: number | null,
  ids: readonly number[],
): Promise<Map<number, TsigKeyRow['use']>> {
  const { rows } = await sql<Pick<TsigKeyRow, 'id' | 'use'>>`
    select id, use from tsig_keys k
    where k.id = any(${[...ids]}::bigint[]) and k.account_id is not distinct from ${accountId}
      and k.revoked_at is null
    order by k.id for share`.execute(trx);
  return new Map(rows.map(({ id, use }) => [id, use]));
}

/** Why a list of items with keys cannot be saved with a domain. */
export type UnusableKeys =
  /** The domain has been deleted, or has another owner. */
  | { readonly kind: 'absent' }
  /** The key of this item does not belong to the owner, or is the imported key of a primary. */
  | { readonly kind: 'unknown_key'; readonly index: number };

/** Locks a domain and the keys of its owner with which others sign. Returns undefined if all of them can be used. */
export async function lockDomainKeys(
  trx: Database,
  { id, accountId }: { readonly id: number; readonly accountId: number },
  keyIds: readonly (number | null)[],
): Promise<UnusableKeys | undefined> {
  const { rows } = await sql`
    select from domains where id = ${id} and account_id = ${accountId} and deleted_at is null
    for no key update`.execute(trx);
  if (rows.length === 0) return { kind: 'absent' };
  const keys = await lockKeys(
    trx,
    accountId,
    keyIds.filter((keyId) => keyId !== null),
  );
  const index = keyIds.findIndex((keyId) => keyId !== null && keys.get(keyId) !== 'serve');
  return index >= 0 ? { kind: 'unknown_key', index } : undefined;
}

type RevokedKey =
  | { readonly kind: 'revoked'; readonly key: TsigKeyRow }
  | { readonly kind: 'in_use'; readonly key: TsigKeyRow }
  | { readonly kind: 'absent' };

/**
 * Refuses to revoke a key that is in use, unless `force` is set. A peer that uses it then matches no message, and its
 * grants are deleted.
 */
export async function revokeKey(
  trx: Database,
  accountId: number | null,
  id: number,
  { force = false } = {},
): Promise<RevokedKey> {
  await sql`select from tsig_keys where id = ${id} for update`.execute(trx);
  const key = await loadKey(trx, accountId, { id });
  if (key === undefined) return { kind: 'absent' };
  if (isInUse(key) && !force) return { kind: 'in_use', key };
  await sql`delete from update_grants where key_id = ${id}`.execute(trx);
  await sql`update tsig_keys set revoked_at = clock_timestamp() where id = ${id}`.execute(trx);
  await sql`
    delete from tsig_keys where id in (
      select id from tsig_keys where account_id is not distinct from ${accountId} and revoked_at is not null
      order by revoked_at desc, id desc offset ${REVOKED_KEPT})
    and not exists (select from peers p where p.key_id = tsig_keys.id)`.execute(trx);
  return { kind: 'revoked', key };
}

interface ResealedKeys {
  readonly resealed: number;
  /** Names of keys that the secrets do not open. They are not changed. */
  readonly unreadable: readonly string[];
}

/** Seals every key again with the first secret, after which the others are no longer needed. */
export async function resealKeys(db: Database, secrets: readonly KeySecret[]): Promise<ResealedKeys> {
  const [first] = secrets;
  if (first === undefined) return { resealed: 0, unreadable: [] };
  return await db.transaction().execute(async (trx) => {
    const { rows } = await sql<SealedTsigKey & { id: number }>`
      select id, name, wrap, sealed from tsig_keys where wrap <> ${first.name} order by id for update`.execute(
      trx,
    );
    const unreadable: string[] = [];
    for (const { id, ...stored } of rows) {
      const plain = unsealTsigKey(secrets, stored);
      const again = plain && sealTsigKey(secrets, stored.name, plain);
      if (again === undefined) unreadable.push(stored.name);
      else
        await sql`update tsig_keys set wrap = ${again.wrap}, sealed = ${again.sealed} where id = ${id}`.execute(
          trx,
        );
    }
    return { resealed: rows.length - unreadable.length, unreadable };
  });
}

/** Returns the names of the keys that the secrets do not open. */
export async function findUnreadableKeys(
  db: Database,
  secrets: readonly KeySecret[],
): Promise<{ readonly keys: number; readonly unreadable: readonly string[] }> {
  const { rows } = await sql<SealedTsigKey>`
    select name, wrap, sealed from tsig_keys where revoked_at is null order by id`.execute(db);
  const unreadable = rows.filter((stored) => unsealTsigKey(secrets, stored) === undefined);
  return { keys: rows.length, unreadable: unreadable.map(({ name }) => name) };
}
