// Leases of queries to one address (or resolver) per second, for all workers, by the database's clock. A worker leases
// half of what is left, so that the first worker does not get all.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

interface Lease {
  readonly granted: number;
  /** Milliseconds until the next second starts. */
  readonly retryAfterMs: number;
}

/** If the clock was set back by more than this, counting restarts. Otherwise nothing would be granted until it caught up. */
const CLOCK_BACK_SECONDS = 5;
const KEPT_SECONDS = 3600;
const LEASES_PER_PURGE = 2000;

export function postgresLeases(
  db: Database,
  perSecond: number,
): { lease(address: string, wanted: number): Promise<Lease> } {
  let leases = 0;
  return {
    async lease(address, wanted) {
      if (++leases % LEASES_PER_PURGE === 0) await purgeLeases(db);
      return await takeLease(db, { address, wanted, perSecond });
    },
  };
}

interface LeaseOrder {
  readonly address: string;
  readonly wanted: number;
  readonly perSecond: number;
}

async function takeLease(db: Database, { address, wanted, perSecond }: LeaseOrder): Promise<Lease> {
  const half = (left: ReturnType<typeof sql>) =>
    sql`least(${wanted}::integer, greatest(0, (${left} + 1) / 2))`;
  // A caller that waited for the lock may have an older second than the row. The row's second counts.
  const isAnew = sql`(l.second < excluded.second or l.second > excluded.second + ${CLOCK_BACK_SECONDS}::integer)`;
  const left = sql`case when ${isAnew} then ${perSecond}::integer else ${perSecond}::integer - l.granted end`;
  const { rows } = await sql<Lease>`
    insert into resolver_leases as l (address, second, granted, newest)
    select ${address}, floor(extract(epoch from clock_timestamp())), n.newest, n.newest
    from (select ${half(sql`${perSecond}::integer`)} as newest) n
    on conflict (address) do update set
      second = case when ${isAnew} then excluded.second else l.second end,
      granted = case when ${isAnew} then 0 else l.granted end + ${half(left)},
      newest = ${half(left)}
    returning newest as granted,
      ceil(1000 * (1 - extract(epoch from clock_timestamp()) % 1))::integer as "retryAfterMs"`.execute(db);
  return rows[0] as Lease;
}

async function purgeLeases(db: Database): Promise<void> {
  await sql`
    delete from resolver_leases where address = any(array(
      select address from resolver_leases
      where second < floor(extract(epoch from clock_timestamp())) - ${KEPT_SECONDS}::integer
      for update skip locked))`.execute(db);
}
