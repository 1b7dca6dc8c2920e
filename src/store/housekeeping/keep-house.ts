// Deletes data that is no longer needed, and selects the domains whose published records are to be checked. Several
// processes may run it concurrently. No request waits for it.

import { sql } from 'kysely';
import { purgeDnsCounts } from '../counts/purge-counts.ts';
import { destroyRetiredKeys } from '../keys/key-store.ts';
import { loadPublishSettings } from '../postgres/answer-settings.ts';
import type { Database } from '../postgres/database.ts';
import { purgeHistory } from '../transfers/purge-history.ts';
import { purgeVantageJobs } from '../vantage/vantage-jobs.ts';
import { purgeNonces } from '../vantage/vantages.ts';
import { purgeAudit, purgeDomains, purgeEdgeChanges, purgeFeed, purgeIdempotency } from './purges.ts';
import { deleteOld, RETENTION, type Retention } from './retention.ts';

/** A node that was disconnected for longer loads all zones, and an edge receives everything. */
const RETENTION_DAYS = 7;
/** Domains per round, and maximum records of each, so that a round takes at most a second. */
const SAMPLE = 5;
const MOST_RECORDS = 5000;

/** Deletes old data. Returns true if there may be more to delete immediately. */
export async function purgeOld(db: Database, ofFeatures: Retention): Promise<boolean> {
  if (await isFeedPurgeDue(db)) {
    await purgeFeed(db, RETENTION_DAYS);
    await purgeHistory(db, RETENTION_DAYS);
    await purgeDomains(db);
    await purgeEdgeChanges(db, RETENTION_DAYS);
    await destroyRetiredKeys(db);
    await deleteOld(db, { ...RETENTION, ...ofFeatures });
  }
  await purgeVantageJobs(db);
  await purgeNonces(db);
  await purgeDnsCounts(db);
  const isMore = await purgeAudit(db);
  return (await purgeIdempotency(db)).isMore || isMore;
}

/** Returns true at most once per hour, in one of all processes. */
async function isFeedPurgeDue(db: Database): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update feed set purged_at = clock_timestamp()
    where purged_at < clock_timestamp() - interval '1 hour'`.execute(db);
  return numAffectedRows === 1n;
}

export interface DomainToCheck {
  readonly id: number;
  readonly name: string;
}

/**
 * Returns the next domains after the id `after` that `checkPublished` should check. Empty at the end. Skips domains
 * that wait for `republishDomains`, that have no zone, or that have many records.
 */
export async function domainsToCheck(db: Database, after: number): Promise<DomainToCheck[]> {
  const { generation } = await loadPublishSettings(db);
  const { rows } = await sql<DomainToCheck>`
    select id, name from domains
    where id > ${after} and deleted_at is null and zone_id is not null
      and answers_generation >= ${generation} and record_count <= ${MOST_RECORDS}
    order by id limit ${SAMPLE}`.execute(db);
  return rows;
}
