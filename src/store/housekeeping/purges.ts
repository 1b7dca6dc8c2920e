// Deletes rows that are no longer needed, in small transactions.

import { sql } from 'kysely';
import { KEEP_RULES } from '../accounts/kept-answers.ts';
import { RESTORABLE_DAYS } from '../domains/domain.ts';
import type { Database } from '../postgres/database.ts';
import { allowLong } from '../postgres/deadlines.ts';

/** Rows that one statement reads. */
const BATCH_ROWS = 10_000;
const AUDIT_DAYS = 400;
const AUDIT_BATCH_ROWS = 5000;

/** Deletes audit rows older than 400 days. Returns true if there may be more to delete immediately. */
export async function purgeAudit(db: Database, rows = AUDIT_BATCH_ROWS): Promise<boolean> {
  // The oldest rows have the lowest ids, so if none is old, one page of the index is read.
  const { numAffectedRows } = await sql`
    delete from audit_log where id = any(array(
      select o.id from (select id, at from audit_log order by id limit ${rows}) o
      where o.at < clock_timestamp() - make_interval(days => ${AUDIT_DAYS}::integer)))`.execute(db);
  return Number(numAffectedRows ?? 0n) === rows;
}

/**
 * Deletes domains that can no longer be restored, with their records and log. One domain per transaction, so that a
 * large one does not delay the others.
 */
export async function purgeDomains(db: Database): Promise<number> {
  for (let purged = 0; ; purged++) {
    const { numAffectedRows } = await db.transaction().execute(async (trx) => {
      await allowLong(trx);
      return await sql`
        delete from domains where id = (
          select id from domains
          where deleted_at < clock_timestamp() - make_interval(days => ${RESTORABLE_DAYS}::integer)
          order by deleted_at limit 1 for update skip locked)`.execute(trx);
    });
    if (numAffectedRows !== 1n) return purged;
  }
}

/**
 * Deletes rows of names without a domain from the feed of edges. Edges whose cursor is older than `edge_purged_xid`
 * then receive everything. Continues by name, in small transactions. Rows that a writer has locked wait for the next
 * purge.
 */
export async function purgeEdgeChanges(db: Database, retentionDays: number): Promise<number> {
  let purged = 0;
  for (let after: string | null = ''; after !== null; ) {
    const batch = await purgeBehind(db, retentionDays, after);
    purged += batch.purged;
    after = batch.last;
  }
  return purged;
}

/**
 * Keeps rows whose transaction may still be in flight for an edge, because a current cursor must not expire. Also keeps
 * the newest row, which the cursors of up-to-date edges refer to.
 */
async function purgeBehind(
  db: Database,
  retentionDays: number,
  after: string,
): Promise<{ purged: number; last: string | null }> {
  const { rows } = await sql<{ purged: number; last: string | null }>`
    with page as materialized (
      select name from edge_changes where name > ${after} collate "C" order by name limit ${BATCH_ROWS}),
    former as materialized (
      select e.name from edge_changes e
      where e.name in (select p.name from page p where not exists (select from domains d where d.name = p.name))
        and e.at < clock_timestamp() - make_interval(days => ${retentionDays})
        and e.xid < pg_snapshot_xmin(pg_current_snapshot()) and e.xid < (select xid from edge_changes order by xid desc limit 1)
      for update of e skip locked),
    purged as (
      delete from edge_changes e using former where e.name = former.name returning e.xid),
    newest as (select xid from purged order by xid desc limit 1),
    marked as (
      update feed set edge_purged_xid = newest.xid from newest
      where feed.edge_purged_xid < newest.xid or feed.edge_purged_xid >= pg_snapshot_xmax(pg_current_snapshot()))
    select (select count(*)::integer from purged) as purged,
      case when count(*) = ${BATCH_ROWS} then max(name) end as last from page`.execute(db);
  return rows[0] ?? { purged: 0, last: null };
}

/**
 * Deletes changes, tombstones and deleted zones older than the retention, in small transactions. A domain that is not
 * served keeps its zone's row. `purged_xid` identifies nodes with an older cursor.
 */
export async function purgeFeed(db: Database, retentionDays: number): Promise<{ changes: number }> {
  const { rows } = await sql<{ id: number | null }>`
    select max(id) as id from changes
    where at < clock_timestamp() - make_interval(days => ${retentionDays})`.execute(db);
  const lastId = rows[0]?.id ?? null;
  if (lastId === null) return { changes: 0 };
  let changes = 0;
  for (let purged = BATCH_ROWS; purged === BATCH_ROWS; changes += purged) {
    purged = await purgeChanges(db, retentionDays);
  }
  for (let purged = BATCH_ROWS; purged === BATCH_ROWS; ) purged = await purgeTombstones(db, lastId);
  await sql`
    delete from zones where id = any(array(
      select id from zones
      where deleted_at < clock_timestamp() - make_interval(days => ${retentionDays}) and kind = 'operator'
      for update skip locked))`.execute(db);
  return { changes };
}

async function purgeChanges(db: Database, retentionDays: number): Promise<number> {
  const { rows } = await sql<{ purged: number }>`
    with purged as (
      delete from changes where id in (
        select id from changes where at < clock_timestamp() - make_interval(days => ${retentionDays})
        order by at limit ${BATCH_ROWS})
      returning xid),
    last as (select xid from purged order by xid desc limit 1),
    marked as (
      update feed set purged_xid = last.xid from last where feed.purged_xid < last.xid)
    select count(*) as purged from purged`.execute(db);
  return rows[0]?.purged ?? 0;
}

/**
 * Purges tombstones. A zone that loses some records it: a node with an older version of the zone loads it whole. Zones
 * that are being written are skipped: waiting for them while tombstones are locked could deadlock with a writer that
 * revives one.
 */
async function purgeTombstones(db: Database, lastId: number): Promise<number> {
  const { rows } = await sql<{ purged: number }>`
    with old as materialized (
      select ctid, zone_id from zone_records where removed and version <= ${lastId}
      order by version limit ${BATCH_ROWS}),
    locked as materialized (
      select id from zones where id in (select zone_id from old) for update skip locked),
    purged as (
      delete from zone_records r using old join locked on locked.id = old.zone_id
      where r.ctid = old.ctid and r.removed
      returning r.zone_id, r.version),
    zone as (select zone_id, max(version) as version from purged group by zone_id),
    marked as (
      update zones z set complete_since = greatest(z.complete_since, zone.version)
      from zone where z.id = zone.zone_id)
    select count(*) as purged from purged`.execute(db);
  return rows[0]?.purged ?? 0;
}

interface IdempotencyPurge {
  readonly forgotten: number;
  readonly shrunk: number;
  /** True if there may be more to do: run again without waiting. */
  readonly isMore: boolean;
}

interface PurgeRules {
  readonly keptDays: number;
  readonly accountBytes: number;
  /** Rows per statement. */
  readonly rows: number;
}

const PURGE_RULES: PurgeRules = {
  keptDays: 30,
  accountBytes: KEEP_RULES.accountBytes,
  rows: 1000,
};

const PURGE_LOCK = 0x69646d70; // 'idmp'
/** An account's responses are reduced from nine tenths of its limit to eight, so that new ones fit before the next round. */
const SHRINK_FROM = 0.9;
const SHRINK_TO = 0.8;

/**
 * Deletes idempotency keys older than 30 days, and replaces the oldest responses of accounts that store too much by
 * digests. Skips responses that are kept forever. Runs in one process at a time. Each call does one part of the purge.
 */
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

/** Replaces responses of one account by digests until it reaches its target. Key, request and change id are kept. */
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
