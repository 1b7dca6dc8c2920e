// Keeps answers for Idempotency-Keys: a request happens once for each account and key, for 30 days. The key is claimed
// in the transaction that does the work, so of two requests at once the second waits and then gets the first one's
// answer. A large answer is kept as a digest, and so is every answer beyond what an account may keep; the key itself
// stays. Answers of calls that move a reseller's money are kept for ever.

import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import { inTransaction, rollBackTo } from '../postgres/transaction.ts';

export interface IdempotentRequest {
  readonly accountId: number;
  readonly key: string;
  readonly method: string;
  readonly path: string;
  /** The SHA-256 of the body. */
  readonly bodyHash: Uint8Array;
}

/** A response whose body is anything that JSON can hold. */
export interface StoredResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** An answer without its body. */
export interface CondensedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The SHA-256 of the body's JSON. */
  readonly digest: Uint8Array;
  readonly changeId: number | undefined;
  /** What the body can be made from again, together with the request's body. */
  readonly rest: unknown;
}

export type RunOnce =
  /** `replayed`: the work was not done again. Failed work was rolled back and its answer is not stored. */
  | { readonly kind: 'response'; readonly response: StoredResponse; readonly replayed: boolean }
  /** The work was done before, and only this is left of its answer. */
  | { readonly kind: 'condensed'; readonly response: CondensedResponse }
  /** The key was used with another method, path or body. */
  | { readonly kind: 'mismatch' };

export interface KeepRules {
  /** The most bytes of JSON of an answer that is kept whole, or of what is kept instead. */
  readonly answerBytes: number;
  /** The most bytes of all answers that are kept for one account. */
  readonly accountBytes: number;
  /** The answer stays, whole, and counts for no limit. */
  readonly forEver?: true;
}

export const KEEP_RULES: KeepRules = { answerBytes: 64 * 1024, accountBytes: 100_000_000 };
export const KEPT_FOR_EVER: KeepRules = {
  answerBytes: Number.POSITIVE_INFINITY,
  accountBytes: Number.POSITIVE_INFINITY,
  forEver: true,
};
/** A longer path is kept as its digest. */
const MAX_PATH_CHARACTERS = 512;

/** The result of a request's work. */
export interface Answer extends StoredResponse {
  /** What a body that is too large can be made from again, together with the request's own body. */
  readonly rest?: unknown;
  /** What is kept in place of the body: a repeat gets this. */
  readonly keptBody?: unknown;
}

/**
 * Does `work` unless it was done before with this key. Every write that `work` makes must go through the transaction
 * that it is given. A response with a status of 400 or more rolls everything back and leaves the key free.
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

/** An answer as it is kept. */
interface Kept {
  readonly json: string;
  /** Null: the answer is kept whole. */
  readonly digest: Uint8Array | null;
  readonly changeId: number | null;
  /** What is kept instead where there is no room for `json`. */
  readonly least: { readonly json: string; readonly digest: Uint8Array };
}

/** Keeps the answer whole, or else without the body. */
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

/** The digest of the JSON of an answer's body. */
export function digestOf(body: unknown): Uint8Array {
  return createHash('sha256')
    .update(JSON.stringify(body ?? null))
    .digest();
}

/** Locks the account's total in the last statements of the transaction, so only until its commit. */
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
  // No room: keep the key without the answer, so that a repeated call learns that it was carried out. Workers make room later.
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
