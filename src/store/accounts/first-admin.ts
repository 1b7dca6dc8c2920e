// Creates the first global admin and its first API key.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { type Account, createAccount } from './accounts.ts';
import { createApiKey, generateKey, hashKey } from './api-keys.ts';

const FIRST_ADMIN = { email: 'admin@localhost', name: 'First admin', isAdmin: true, planSlug: 'pro' };
const KEY_NAME = 'bootstrap';
const LOCK = 0x61646d6e; // 'admn'

/** Makes `text` a key of the first global admin, unless the key exists. A revoked key stays revoked. */
export async function ensureAdminKey(db: Database, text: string): Promise<void> {
  await inTransaction(db, async (trx) => {
    await lock(trx);
    const known = await trx
      .selectFrom('api_keys')
      .select('id')
      .where('hash', '=', hashKey(text))
      .executeTakeFirst();
    if (known !== undefined) return;
    await createApiKey(trx, text, { accountId: await ensureFirstAdmin(trx), name: KEY_NAME });
  });
}

/** Returns the text of a new key, or undefined if any global admin ever had a key, even a revoked one. */
export async function createFirstAdminKey(db: Database): Promise<string | undefined> {
  return await inTransaction(db, async (trx) => {
    await lock(trx);
    const accountId = await ensureFirstAdmin(trx);
    if (await hasAdminKey(trx)) return undefined;
    const text = generateKey();
    await createApiKey(trx, text, { accountId, name: KEY_NAME });
    return text;
  });
}

/** Returns the id of the first global admin. Creates the account if there is none. */
export async function ensureFirstAdmin(db: Database): Promise<number> {
  return await inTransaction(db, async (trx) => {
    await lock(trx);
    return (await findFirstAdmin(trx)) ?? (await createFirstAdmin(trx)).id;
  });
}

async function hasAdminKey(trx: Database): Promise<boolean> {
  const key = await trx
    .selectFrom('api_keys')
    .innerJoin('accounts', 'accounts.id', 'api_keys.account_id')
    .select('api_keys.id')
    .where('accounts.is_admin', '=', true)
    .limit(1)
    .executeTakeFirst();
  return key !== undefined;
}

/** Locks, so that two processes that start concurrently create only one admin. */
async function lock(trx: Database): Promise<void> {
  await sql`select pg_advisory_xact_lock(${LOCK})`.execute(trx);
}

async function findFirstAdmin(trx: Database): Promise<number | undefined> {
  const admin = await trx
    .selectFrom('accounts')
    .select('id')
    .where('is_admin', '=', true)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  return admin?.id;
}

async function createFirstAdmin(trx: Database): Promise<Account> {
  const created = await createAccount(trx, FIRST_ADMIN);
  if (created.kind !== 'created') throw new Error(`the first admin cannot be created: ${created.message}`);
  return created.account;
}
