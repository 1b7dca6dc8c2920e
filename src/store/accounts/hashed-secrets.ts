// Secrets that people and programs present: a prefix for the kind, and random base62 characters. Only the hash is
// stored. API keys and machine tokens are found by their hash.

import { createHash, randomInt } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import { arrayOf } from '../postgres/prepared-statements.ts';
import { ACCOUNT_JSON, type Account, type AccountJson, accountOf } from './accounts.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 256 random bits. */
const CHARACTERS = 43;

type SecretPrefix = 'ses_' | 'lnk_' | 'dev_' | 'flow_' | 'inv_' | 'edge_';

export function makeSecretText(prefix: SecretPrefix): string {
  return prefix + randomBase62(CHARACTERS);
}

export function isSecretText(prefix: SecretPrefix, text: string): boolean {
  return text.startsWith(prefix) && /^[0-9A-Za-z]{43}$/.test(text.slice(prefix.length));
}

export function randomBase62(characters: number): string {
  let text = '';
  for (let i = 0; i < characters; i++) text += BASE62[randomInt(BASE62.length)];
  return text;
}

/** Needs neither a salt nor a slow hash, because the texts are long and random. */
export function hashSecret(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

type Table = 'api_keys' | 'reseller_tokens';

export interface FoundCredential<C> {
  readonly credential: C;
  readonly account: Account;
  /** Revoked and expired credentials are found too. */
  readonly state: 'valid' | 'revoked' | 'expired';
}

/**
 * Finds API keys or machine tokens by the hash of their text, including those that are no longer valid. The result's
 * keys are hashes in hexadecimal. `columns` refers to the table as `c`.
 */
export async function findCredentials<C>(
  db: Database,
  table: Table,
  columns: RawBuilder<unknown>,
  hashes: readonly Buffer[],
): Promise<Map<string, FoundCredential<C>>> {
  const { rows } = await sql<C & { hash: Buffer; account: AccountJson; state: FoundCredential<C>['state'] }>`
    select c.hash, ${columns},
      case when c.revoked_at is not null then 'revoked' when c.expires_at <= clock_timestamp() then 'expired'
        else 'valid' end as state,
      ${ACCOUNT_JSON} as account
    from ${sql.table(table)} c join accounts a on a.id = c.account_id left join plans p on p.id = a.plan_id
    where c.hash = any(${arrayOf('bytea', hashes)}::bytea[])`.execute(db);
  return new Map(
    rows.map(({ hash, account, state, ...credential }) => [
      hash.toString('hex'),
      { credential: credential as C, account: accountOf(account), state },
    ]),
  );
}

/** Records a use, at most once per minute. */
export async function touchCredential(db: Database, table: Table, id: number): Promise<void> {
  await sql`
    update ${sql.table(table)} set last_used_at = clock_timestamp() where id = ${id}
      and (last_used_at is null or last_used_at < clock_timestamp() - interval '1 minute')`.execute(db);
}
