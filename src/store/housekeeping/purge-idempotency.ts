// Deletes idempotency keys older than 30 days, and shrinks to digests the oldest answers of accounts that keep too
// much. Those that are kept for ever it passes over. Small transactions, in one process at a time, so that no request waits for it.

import { sql } from 'kysely';
import { KEEP_RULES } from '../accounts/kept-answers.ts';
import type { Database } from '../postgres/database.ts';

interface IdempotencyPurge {
  readonly forgotten: number;
  readonly shrunk: number;
  /** More may be left to do at once. */
  readonly isMore: boolean;
}

interface PurgeRules {
  readonly keptDays: number;
  readonly accountBytes: number;
  /** Rows in one statement. */
  readonly rows: number;
}

const PURGE_RULES: PurgeRules = {
  keptDays: 30,
  accountBytes: KEEP_RULES.accountBytes,
  rows: 1000,
};

const PURGE_LOCK = 0x69646d70; // 'idmp'
/**
 * An account is shrunk when it reaches nine tenths of its limit, down to eight: then the next answers have room before
 * the next round.
 */
const SHRINK_FROM = 0.9;
const SHRINK_TO = 0.8;

/** Does one piece of the purge. */
export async function purgeIdempotency(
  db: Database,
  rules: PurgeRules = PURGE_RULES,
): Promise<IdempotencyPurge> {
  return await db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ mine: boolean }>`
      select pg_try_advisory_xact_lock(${PURGE_LOCK}) as mine`.execute(trx);
    if (rows[0]?.mine !== true) return { forgotten: 0, shrunk: 0, isMore: false };
    const forgotten = await forget(trx, rules);
    const shrunk = await shrink(trx, rules);
    return { forgotten, shrunk, isMore: forgotten === rules.rows || shrunk > 0 };
  });
}

async function forget(trx: Database, { keptDays, rows: limit }: PurgeRules): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with old as materialized (
      select account_id, key from idempotency_keys
      where created_at < clock_timestamp() - make_interval(days => ${keptDays}::integer) and not for_ever
      order by created_at limit ${limit} for update skip locked),
    gone as (
      delete from idempotency_keys k using old where k.account_id = old.account_id and k.key = old.key
      returning k.account_id, k.octets),
    less as (
      update idempotency_octets t set octets = greatest(0, t.octets - g.octets)
      from (select account_id, sum(octets)::bigint as octets from gone group by account_id) g
      where t.account_id = g.account_id)
    select count(*) as count from gone`.execute(trx);
  return rows[0]?.count ?? 0;
}

/**
 * Shrinks answers of one account, as many as bring it to its mark. The key, what it was used for and the change stay.
 */
async function shrink(trx: Database, { accountBytes, rows: limit }: PurgeRules): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with full_one as materialized (
      select account_id, octets - ${Math.floor(accountBytes * SHRINK_TO)}::bigint as over
      from idempotency_octets where octets > ${Math.floor(accountBytes * SHRINK_FROM)}
      order by octets desc limit 1),
    oldest as materialized (
      select k.account_id, k.key, k.octets, k.created_at from idempotency_keys k join full_one using (account_id)
      where k.octets > 0
      order by k.created_at limit ${limit} for update of k skip locked),
    enough as materialized (
      select account_id, key from (
        select account_id, key,
          sum(octets) over (order by created_at, key rows unbounded preceding) - octets as before
        from oldest) o
      where before < (select over from full_one)),
    shrunk as (
      update idempotency_keys k set
        digest = coalesce(k.digest, sha256(convert_to((k.response->'body')::text, 'UTF8'))),
        response = json_build_object('status', k.response->'status', 'headers', k.response->'headers'),
        octets = 0
      from enough where k.account_id = enough.account_id and k.key = enough.key
      returning k.account_id, k.key),
    less as (
      update idempotency_octets t set octets = greatest(0, t.octets - s.octets)
      from (
        select account_id, sum(octets)::bigint as octets from oldest join shrunk using (account_id, key)
        group by account_id) s
      where t.account_id = s.account_id)
    select count(*) as count from shrunk`.execute(trx);
  return rows[0]?.count ?? 0;
}
