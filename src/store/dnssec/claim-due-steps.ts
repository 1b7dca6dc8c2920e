// Takes signed zones whose key machine is due to be looked at, the longest due first. A claim moves the due time by a lease, so
// that one whose worker was lost is due again.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

/** Longer than a job waits in a full queue, and than one observation takes. */
const LEASE_SECONDS = 180;

export async function claimDueSteps(db: Database, limit: number): Promise<{ signedZoneId: number }[]> {
  const { rows } = await sql<{ signedZoneId: number }>`
    update signed_zones set due_at = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
    where id = any(array(
      select id from signed_zones where due_at <= now() and machine is not null order by due_at limit ${limit}
      for no key update skip locked))
    returning id as "signedZoneId"`.execute(db);
  return rows;
}

/** There is nothing to look at for now; a domain that is restored is found then. */
export async function postponeStep(db: Database, signedZoneId: number, seconds: number): Promise<void> {
  await sql`
    update signed_zones set due_at = clock_timestamp() + make_interval(secs => ${seconds})
    where id = ${signedZoneId}`.execute(db);
}
