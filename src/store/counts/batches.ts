// Moves the nodes' counts of responses to the analytics store in batches. Rows keep their batch id: a worker that
// repeats a batch, after a crash or concurrently with another worker, uses the same id, so that the store can ignore
// the repeat.

import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

/** At most about 65,000 counts. */
const ROWS = 16;
/** A batch that is claimed for longer is considered abandoned. */
const LEASE_SECONDS = 120;
/** Tolerated clock error of a node. Other rows are rejected, because they could create any number of partitions. */
const MOST_AHEAD_MINUTES = 5;
const MOST_BEHIND_MINUTES = 120;

/** Returns the id of a batch to move, abandoned ones first, or undefined if no counts wait. */
export async function claimBatch(db: Database): Promise<string | undefined> {
  const { rows } = await sql<{ batch: string }>`
    with left_behind as (
      select batch from dns_counts
      where moved_at is null and batch is not null
        and claimed_at < clock_timestamp() - make_interval(secs => ${LEASE_SECONDS})
      order by claimed_at limit 1)
    update dns_counts c set claimed_at = clock_timestamp() from left_behind l
    where c.batch = l.batch and c.moved_at is null returning c.batch`.execute(db);
  const [left] = rows;
  if (left !== undefined) return left.batch;
  const batch = randomUUID();
  const { numAffectedRows } = await sql`
    with chosen as (
      select instance, part from dns_counts where moved_at is null and batch is null
      order by received_at limit ${ROWS} for update skip locked)
    update dns_counts c set batch = ${batch}, claimed_at = clock_timestamp() from chosen
    where c.instance = chosen.instance and c.part = chosen.part`.execute(db);
  return numAffectedRows === 0n ? undefined : batch;
}

/** Releases a batch that could not be moved, so that it can be claimed immediately. */
export async function leaveBatch(db: Database, batch: string): Promise<void> {
  await sql`update dns_counts set claimed_at = '-infinity' where batch = ${batch} and moved_at is null`.execute(
    db,
  );
}

interface MinuteCount {
  readonly minute: Date;
  /** 0 if the count does not distinguish domains. */
  readonly domainId: number;
  readonly type: number;
  readonly rcode: number;
  readonly node: string;
  readonly count: number;
}

interface DayName {
  readonly day: string;
  readonly domainId: number;
  readonly name: string;
  readonly count: number;
}

interface Batch {
  readonly counts: readonly MinuteCount[];
  readonly names: readonly DayName[];
}

const IS_IN_TIME = sql`c.minute between c.received_at - make_interval(mins => ${MOST_BEHIND_MINUTES})
  and c.received_at + make_interval(mins => ${MOST_AHEAD_MINUTES})`;

/** Omits zones without a domain (operator zones and deleted ones), and values that no node would report. */
export async function loadBatch(db: Database, batch: string): Promise<Batch> {
  const counts = await sql<MinuteCount>`
    select date_trunc('minute', c.minute) as minute, coalesce(d.id, 0) as "domainId", u.type, u.rcode, c.node,
      sum(u.count)::bigint as count
    from dns_counts c cross join unnest(c.zone_ids, c.types, c.rcodes, c.counts) u(zone_id, type, rcode, count)
      left join domains d on d.zone_id = u.zone_id
    where c.batch = ${batch} and c.moved_at is null and ${IS_IN_TIME} and (d.id is not null or u.zone_id = 0)
      and u.type between 0 and 65535 and u.rcode between 0 and 255 and u.count between 1 and 1000000000000
    group by 1, 2, 3, 4, 5 order by 2, 1, 3, 4, 5`.execute(db);
  const names = await sql<DayName>`
    select to_char(c.minute at time zone 'UTC', 'YYYY-MM-DD') as day, d.id as "domainId", u.name,
      sum(u.count)::bigint as count
    from dns_counts c cross join unnest(c.name_zone_ids, c.names, c.name_counts) u(zone_id, name, count)
      join domains d on d.zone_id = u.zone_id
    where c.batch = ${batch} and c.moved_at is null and ${IS_IN_TIME} and octet_length(u.name) <= 1100
      and u.count between 1 and 1000000000000
    group by 1, 2, 3 order by 2, 1, 3`.execute(db);
  return { counts: counts.rows, names: names.rows };
}

/** Empties the rows but keeps them, so that a repeated report of a node is recognized. */
export async function endBatch(db: Database, batch: string): Promise<void> {
  await sql`
    update dns_counts set moved_at = clock_timestamp(), zone_ids = '{}', types = '{}', rcodes = '{}', counts = '{}',
      name_zone_ids = '{}', names = '{}', name_counts = '{}'
    where batch = ${batch} and moved_at is null`.execute(db);
}
