// An Idempotency-Key makes a request happen once for each account, for ever: the key is claimed in the transaction that
// does the work, so that of two requests at once the second waits and then gets the first one's answer.

import { sql } from 'kysely';
import type { Database } from './database.ts';
import { inTransaction, rollBackTo } from './transaction.ts';

export interface IdempotentRequest {
  readonly accountId: number;
  readonly key: string;
  readonly method: string;
  readonly path: string;
  /** SHA-256 of the body. */
  readonly bodyHash: Uint8Array;
}

/** Anything that JSON can hold. */
export interface StoredResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export type RunOnce =
  /** `replayed`: the work was not done again. A failure was taken back and is not stored. */
  | { readonly kind: 'response'; readonly response: StoredResponse; readonly replayed: boolean }
  /** The key was used with another method, path or body. */
  | { readonly kind: 'mismatch' };

/**
 * Does `work` unless this key did it before. Every write that `work` makes has to go through the transaction that it is
 * given. A response with a status of 400 or more takes everything back and leaves the key free.
 */
export async function runOnce(
  db: Database,
  request: IdempotentRequest,
  work: (trx: Database) => Promise<StoredResponse>,
): Promise<RunOnce> {
  return await inTransaction<RunOnce>(db, async (trx) => {
    const { accountId, key, method, path, bodyHash } = request;
    const claimed = await sql`
      insert into idempotency_keys (account_id, key, method, path, body_hash, response)
      values (${accountId}, ${key}, ${method}, ${path}, ${Buffer.from(bodyHash)}, null)
      on conflict (account_id, key) do nothing`.execute(trx);
    if (claimed.numAffectedRows === 0n) return await replay(trx, request);
    const response = await work(trx);
    const done: RunOnce = { kind: 'response', response, replayed: false };
    if (response.status >= 400) rollBackTo(done);
    await sql`
      update idempotency_keys set response = ${JSON.stringify(response)}::json
      where account_id = ${accountId} and key = ${key}`.execute(trx);
    return done;
  });
}

async function replay(trx: Database, request: IdempotentRequest): Promise<RunOnce> {
  const stored = await trx
    .selectFrom('idempotency_keys')
    .select(['method', 'path', 'body_hash', 'response'])
    .where('account_id', '=', request.accountId)
    .where('key', '=', request.key)
    .executeTakeFirstOrThrow();
  const { method, path, body_hash } = stored;
  if (method !== request.method || path !== request.path || !body_hash.equals(request.bodyHash)) {
    return { kind: 'mismatch' };
  }
  return { kind: 'response', response: stored.response as StoredResponse, replayed: true };
}
