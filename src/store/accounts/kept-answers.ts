// Stores responses for Idempotency-Keys: a request runs once for each account and key within 30 days. The key is
// claimed in the transaction that does the work, so a concurrent repeat waits and then gets the first response. Only a
// digest is stored of a large response, and of every response beyond the account's limit. Responses of calls that move
// a reseller's money are kept forever.

import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import { inTransaction, rollBackTo } from '../postgres/transaction.ts';

export interface IdempotentRequest {
  readonly accountId: number;
  readonly key: string;
  readonly method: string;
  readonly path: string;
  /** SHA-256 of the body. */
  readonly bodyHash: Uint8Array;
}

/** A response whose body is any JSON value. */
export interface StoredResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** A response without its body. */
export interface CondensedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** SHA-256 of the body's JSON. */
  readonly digest: Uint8Array;
  readonly changeId: number | undefined;
  /** Data from which the body can be rebuilt, together with the request's body. */
  readonly rest: unknown;
}

export type RunOnce =
  /** `replayed` is true if the work was done earlier. Failed work was rolled back, and its response is not stored. */
  | { readonly kind: 'response'; readonly response: StoredResponse; readonly replayed: boolean }
  /** The work was done earlier, and only this part of the response is stored. */
  | { readonly kind: 'condensed'; readonly response: CondensedResponse }
  /** The key was used with another method, path or body. */
  | { readonly kind: 'mismatch' };

export interface KeepRules {
  /** Maximum bytes of JSON stored for one response. */
  readonly answerBytes: number;
  /** Maximum bytes of all responses stored for one account. */
  readonly accountBytes: number;
  /** The response is stored whole, forever, and counts towards no limit. */
  readonly forEver?: true;
}

export const KEEP_RULES: KeepRules = { answerBytes: 64 * 1024, accountBytes: 100_000_000 };
export const KEPT_FOR_EVER: KeepRules = {
  answerBytes: Number.POSITIVE_INFINITY,
  accountBytes: Number.POSITIVE_INFINITY,
  forEver: true,
};
/** A longer path is stored as its digest. */
const MAX_PATH_CHARACTERS = 512;

export interface Answer extends StoredResponse {
  /** Data from which a body that is too large to store can be rebuilt, together with the request's body. */
  readonly rest?: unknown;
  /** Stored and replayed instead of the body. */
  readonly keptBody?: unknown;
}

/**
 * Does `work` unless it was done before with this key. All writes of `work` must use the transaction that it receives.
 * A response with a status of 400 or more rolls everything back and leaves the key unused.
 */
export async function runOnce(
  db: Database,
  request: IdempotentRequest,
  work: (trx: Database) => Promise<Answer>,
  rules: KeepRules = KEEP_RULES,
): Promise<RunOnce> {
  return await inTransaction<RunOnce>(db, async (trx) => {
    const { accountId, key, method, bodyHash } = request;
    const claimed = await sql`
      insert into idempotency_keys (account_id, key, method, path, body_hash, response)
      values (${accountId}, ${key}, ${method}, ${keptPath(request.path)}, ${Buffer.from(bodyHash)}, null)
      on conflict (account_id, key) do nothing`.execute(trx);
    if (claimed.numAffectedRows === 0n) return await replay(trx, request);
    const { rest, keptBody, ...response } = await work(trx);
    const done: RunOnce = { kind: 'response', response, replayed: false };
    if (response.status >= 400) rollBackTo(done);
    if (rules.forEver === true) {
      const whole = JSON.stringify(keptBody === undefined ? response : { ...response, body: keptBody });
      await sql`
        update idempotency_keys set response = ${whole}::json, for_ever = true
        where account_id = ${accountId} and key = ${key}`.execute(trx);
      return done;
    }
    await keep(
      trx,
      request,
      condense(keptBody === undefined ? response : { ...response, body: keptBody }, rest, rules),
      rules,
    );
    return done;
  });
}

function keptPath(path: string): string {
  if (path.length <= MAX_PATH_CHARACTERS) return path;
  return `sha256:${createHash('sha256').update(path).digest('hex')}`;
}

interface Kept {
  readonly json: string;
  /** Null if the response is stored whole. */
  readonly digest: Uint8Array | null;
  readonly changeId: number | null;
  /** Stored instead if the account has no space left for `json`. */
  readonly least: { readonly json: string; readonly digest: Uint8Array };
}

/** Encodes the response whole if it is small enough, otherwise without the body. */
function condense(response: StoredResponse, rest: unknown, { answerBytes }: KeepRules): Kept {
  const { status, headers, body } = response;
  const changeId = Number(headers['X-Change-Id'] ?? Number.NaN);
  const digest = digestOf(body);
  const least = { json: JSON.stringify({ status, headers }), digest };
  const common = { changeId: Number.isSafeInteger(changeId) ? changeId : null, least };
  const whole = JSON.stringify(response);
  if (Buffer.byteLength(whole) <= answerBytes) return { ...common, json: whole, digest: null };
  const withRest = JSON.stringify({ status, headers, rest });
  if (Buffer.byteLength(withRest) <= answerBytes) return { ...common, json: withRest, digest };
  return { ...common, ...least };
}

/** Returns the SHA-256 of the body's JSON. */
export function digestOf(body: unknown): Uint8Array {
  return createHash('sha256')
    .update(JSON.stringify(body ?? null))
    .digest();
}

/** Locks the account's total. These are the last statements of the transaction, so the lock is held only briefly. */
async function keep(
  trx: Database,
  { accountId, key }: IdempotentRequest,
  { json, digest, changeId, least }: Kept,
  { accountBytes }: KeepRules,
): Promise<void> {
  const bytes = Buffer.byteLength(json);
  const saved = await sql`
    with total as (
      insert into idempotency_octets as t (account_id, octets)
      select ${accountId}, ${bytes}::integer where ${bytes}::integer <= ${accountBytes}::bigint
      on conflict (account_id) do update set octets = t.octets + excluded.octets
        where t.octets + excluded.octets <= ${accountBytes}::bigint
      returning 1)
    update idempotency_keys set response = ${json}::json, digest = ${digest && Buffer.from(digest)}::bytea,
      change_id = ${changeId}::bigint, octets = ${bytes}::integer
    where account_id = ${accountId} and key = ${key} and exists (select from total)`.execute(trx);
  if (saved.numAffectedRows === 1n) return;
  // The account has no space left: store the key without the response, so that a repeat learns that the work was done.
  // Workers free space later.
  await sql`
    update idempotency_keys set response = ${least.json}::json, digest = ${Buffer.from(least.digest)},
      change_id = ${changeId}::bigint
    where account_id = ${accountId} and key = ${key}`.execute(trx);
}

async function replay(trx: Database, request: IdempotentRequest): Promise<RunOnce> {
  const stored = await trx
    .selectFrom('idempotency_keys')
    .select(['method', 'path', 'body_hash', 'response', 'digest', 'change_id'])
    .where('account_id', '=', request.accountId)
    .where('key', '=', request.key)
    .executeTakeFirstOrThrow();
  const { method, path, body_hash, digest, change_id } = stored;
  const isSamePath = path === request.path || path === keptPath(request.path);
  if (method !== request.method || !isSamePath || !body_hash.equals(request.bodyHash)) {
    return { kind: 'mismatch' };
  }
  if (digest === null) {
    return { kind: 'response', response: stored.response as StoredResponse, replayed: true };
  }
  const { status, headers, rest } = stored.response as CondensedResponse;
  return { kind: 'condensed', response: { status, headers, rest, digest, changeId: change_id ?? undefined } };
}
