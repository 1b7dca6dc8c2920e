// Claims signed zones that need signatures over per-region record sets: those with a changed proxied name, those signed
// for other sets, and those whose signatures expire soon. A claim is a lease. If signing fails, the zone is due again
// after it.

import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { EdgeSets } from '../../zone/edge-sets.ts';
import { setsToSign } from '../../zone/signing/plan-edge-marks.ts';
import { dueAt } from '../../zone/signing/validity.ts';
import type { Database } from '../postgres/database.ts';

export interface DueEdgeZone {
  readonly zoneId: number;
  /** Null if no domain has the zone any longer. */
  readonly domainId: number | null;
  readonly name: string;
  /** The version that was examined. Null if all names must be examined. */
  readonly since: number | null;
  /** When the first of those signatures expires, in seconds since 1970. */
  readonly expiresAt: number | null;
  /** Set by `noteEdgeNames`. Null if no name has changed. */
  readonly changed: number | null;
}

const LEASE_SECONDS = 60;
const FREE = sql`(leased_until is null or leased_until <= clock_timestamp())`;

/** Identifies the sets that zones are to be signed for, as stored in `edge_signings`. */
export function signedSetsKey(sets: EdgeSets): string {
  const ids = setsToSign(sets).map(({ id }) => Buffer.from(id).toString('hex'));
  return ids.length === 0 ? '' : createHash('sha256').update(ids.sort().join()).digest('hex').slice(0, 32);
}

/** Claims zones, recently edited ones first. Each part reads an index, so the number of zones does not matter. */
export async function claimDueEdgeZones(db: Database, key: string, limit: number): Promise<DueEdgeZone[]> {
  // A subquery, because a volatile function would be evaluated for each row.
  const soon = sql`(select clock_timestamp() + make_interval(secs => ${-dueAt(0)}))`;
  const { rows } = await sql<DueEdgeZone>`
    with due as materialized (
      (select zone_id from edge_signings where changed is not null and ${FREE} order by changed limit ${limit})
      union all (select zone_id from edge_signings where sets < ${key} and ${FREE} limit ${limit})
      union all (select zone_id from edge_signings where sets > ${key} and ${FREE} limit ${limit})
      union all (select zone_id from edge_signings where expires_at < ${soon} and ${FREE} order by expires_at limit ${limit})
      limit ${limit}),
    claimed as (
      update edge_signings set leased_until = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
      where zone_id = any(array(
        select zone_id from edge_signings where zone_id = any(array(select zone_id from due)) and ${FREE}
        for no key update skip locked))
      returning *)
    select e.zone_id as "zoneId", d.id as "domainId", z.name, e.changed,
      case when e.sets = ${key} and (e.expires_at is null or e.expires_at >= ${soon}) then e.zone_version end as since,
      floor(extract(epoch from e.expires_at)) as "expiresAt"
    from claimed e join zones z on z.id = e.zone_id left join domains d on d.zone_id = z.id`.execute(db);
  return rows;
}

/** Renews the lease of a zone that takes long. */
export async function renewEdgeLease(db: Database, { zoneId }: DueEdgeZone): Promise<void> {
  await sql`
    update edge_signings set leased_until = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
    where zone_id = ${zoneId}`.execute(db);
}

export async function endEdgeLease(db: Database, { zoneId }: DueEdgeZone): Promise<void> {
  await sql`update edge_signings set leased_until = null where zone_id = ${zoneId}`.execute(db);
}

/** Records that all names were examined, starting with this version of the zone. A concurrent change makes it due again. */
export async function noteExamined(
  db: Database,
  { zoneId, changed }: DueEdgeZone,
  {
    version,
    key,
    expiresAt,
  }: { readonly version: number; readonly key: string; readonly expiresAt: number | null },
): Promise<void> {
  await sql`
    update edge_signings set zone_version = ${version}, sets = ${key}, expires_at = to_timestamp(${expiresAt}),
      changed = nullif(changed, ${changed}::bigint), leased_until = null
    where zone_id = ${zoneId}`.execute(db);
}

/** Drops a zone that is no longer signed or served. If it is signed again, its names are recorded again. */
export async function dropEdgeZone(db: Database, { zoneId, changed }: DueEdgeZone): Promise<void> {
  await sql`
    delete from edge_signings where zone_id = ${zoneId} and changed is not distinct from ${changed}::bigint`.execute(
    db,
  );
}
