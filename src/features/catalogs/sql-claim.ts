// Claims consumed catalogs for a worker, compares their zones with the stored members, and ends the claims.

import { sql } from 'kysely';
import { readPages } from '../../store/keys/read-zone-rows.ts';
import type { Database } from '../../store/postgres/database.ts';
import { allowLong } from '../../store/postgres/deadlines.ts';
import { decodeNameColumn } from '../../store/postgres/name-column.ts';
import { inTransaction, rollBackTo } from '../../store/postgres/transaction.ts';
import { type Comparison, compareMembers, type StoredMember } from '../../zone/catalog/compare-members.ts';
import { CatalogReader } from '../../zone/catalog/read-catalog.ts';
import type { ConsumerFinding } from './rules-consume.ts';

/** A consumed catalog that this worker has claimed. */
export interface ClaimedCatalog {
  readonly id: number;
  readonly name: string;
  /** Number of the claim. Another worker that claims the catalog increases it. */
  readonly lease: number;
  readonly maxMembers: number;
  /** Local policies, by group. */
  readonly policies: Readonly<Record<string, string>>;
  /** True if the zone has changed since it was compared. */
  readonly isChanged: boolean;
  /** The version whose removals the operator has confirmed. */
  readonly confirmedVersion: number | null;
}

/** Another worker has claimed the catalog, or it was removed or changed: the rest of the work is dropped. */
export type Lost = 'lost';

/** Longer than any chunk takes. If a worker is lost, the others wait this long. */
const LEASE_SECONDS = 120;
const LEASED_UNTIL = sql`clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})`;

/**
 * Claims a catalog that has changed or has skipped members to try again. One worker of the fleet works on one catalog,
 * because members join at a limited rate.
 */
export async function claimCatalog(db: Database): Promise<ClaimedCatalog | undefined> {
  const isChanged = sql`(c.version is distinct from z.version)`;
  const { rows } = await sql<ClaimedCatalog>`
    with due as materialized (
      select c.id, ${isChanged} as changed from catalogs c join zones z on z.name = c.name and z.deleted_at is null
      where c.role = 'consumer' and c.next_at <= clock_timestamp() and (${isChanged} or c.retry_at <= clock_timestamp())
        and not exists (select from catalogs o where o.leased_until > clock_timestamp())
      order by c.next_at limit 1
      for no key update of c skip locked)
    update catalogs c set lease = lease + 1, leased_until = ${LEASED_UNTIL} from due d where c.id = d.id
    returning c.id, c.name, c.lease, c.max_members as "maxMembers", c.policies, d.changed as "isChanged",
      c.confirmed_version as "confirmedVersion"`.execute(db);
  return rows[0];
}

type ComparedCatalog =
  | { readonly kind: 'compared'; readonly version: number; readonly comparison: Comparison }
  /** `why` is a predicate whose subject is the catalog. */
  | { readonly kind: 'broken'; readonly version: number; readonly why: string }
  | { readonly kind: 'absent' };

/** Compares the zone of a catalog with its stored members, both from one snapshot. */
export async function compareCatalog(db: Database, catalog: ClaimedCatalog): Promise<ComparedCatalog> {
  const apex = decodeNameColumn(catalog.name);
  return await db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (trx) => {
      await allowLong(trx);
      const { rows } = await sql<{ id: number; version: number }>`
        select id, version from zones where name = ${catalog.name} and deleted_at is null`.execute(trx);
      const [zone] = rows;
      if (zone === undefined) return { kind: 'absent' };
      const reader = new CatalogReader(apex, catalog);
      for await (const records of readPages(trx, zone.id)) reader.add(records);
      const read = reader.end();
      const { version } = zone;
      if (read.kind === 'broken') return { kind: 'broken', version, why: read.why };
      const groups = new Set(Object.keys(catalog.policies));
      const stored = await loadMembers(trx, catalog.id);
      return { kind: 'compared', version, comparison: compareMembers(stored, read.members, groups) };
    });
}

const MEMBER = sql`name, label, group_name as "group", coo, skipped is not null as "isSkipped"`;

async function loadMembers(trx: Database, catalogId: number): Promise<StoredMember[]> {
  const { rows } = await sql<StoredMember>`
    select ${MEMBER} from catalog_members where catalog_id = ${catalogId}`.execute(trx);
  return rows;
}

/** Returns skipped members whose names follow `after`. */
export async function loadSkipped(
  db: Database,
  catalogId: number,
  after: string,
  limit: number,
): Promise<StoredMember[]> {
  const { rows } = await sql<StoredMember>`
    select ${MEMBER} from catalog_members where catalog_id = ${catalogId} and skipped is not null and name > ${after}
    order by name limit ${limit}`.execute(db);
  return rows;
}

interface Ended {
  /** The version that was applied or cannot be. Undefined if the comparison was not completed. */
  readonly version?: number;
  readonly finding?: ConsumerFinding;
  /** True if the version waits for a confirmation. */
  readonly isHeld?: boolean;
  /** The catalog is not compared again before this time has passed. */
  readonly pauseMs: number;
}

/** Skipped members are tried again after this time, unless the newest version is not applied. */
const RETRY_SECONDS = 60;

/** Ends the claim. */
export async function endClaim(db: Database, { id, lease }: ClaimedCatalog, ended: Ended): Promise<void> {
  const { version, finding, isHeld = false, pauseMs } = ended;
  const result =
    version === undefined
      ? sql``
      : sql`version = ${version}, held_version = ${isHeld ? version : null},
        findings = ${JSON.stringify(finding === undefined ? [] : [finding])},`;
  await sql`
    update catalogs c set ${result} leased_until = null,
      next_at = clock_timestamp() + make_interval(secs => ${pauseMs / 1000}),
      retry_at = case when ${finding === undefined} and exists (
        select from catalog_members m where m.catalog_id = c.id and m.skipped is not null)
        then clock_timestamp() + make_interval(secs => ${RETRY_SECONDS}) end
    where id = ${id} and lease = ${lease}`.execute(db);
}

/** Locks the catalog and renews the claim. */
export async function renewClaim(trx: Database, { id, lease }: ClaimedCatalog): Promise<void> {
  await allowLong(trx);
  const { numAffectedRows } = await sql`
    update catalogs set leased_until = ${LEASED_UNTIL} where id = ${id} and lease = ${lease}`.execute(trx);
  if (numAffectedRows !== 1n) rollBackTo('lost' satisfies Lost);
}

/** Returns the number of members whose first transfer has not been tried yet. It bounds the jobs that a silent primary causes. */
export async function countJoining(db: Database, catalog: ClaimedCatalog): Promise<number | Lost> {
  return await inTransaction<number | Lost>(db, async (trx) => {
    await renewClaim(trx, catalog);
    const { rows } = await sql<{ count: number }>`
      select count(*)::integer as count from secondaries
      where catalog_id = ${catalog.id} and serial is null and failures = 0`.execute(trx);
    return rows[0]?.count ?? 0;
  });
}
