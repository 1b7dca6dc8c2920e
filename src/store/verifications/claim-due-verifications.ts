// Takes domains in external mode whose TXT record is due to be looked for. A claim moves the due time by a lease, so
// that one whose worker was lost is due again.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import { IS_TO_BE_VERIFIED } from './load-verified-domain.ts';

/** Longer than a job waits in a full queue. */
const LEASE_SECONDS = 120;

export async function claimDueVerifications(
  db: Database,
  limit: number,
): Promise<{ domainId: number; kind: 'background' }[]> {
  const { rows } = await sql<{ domainId: number }>`
    with picked as materialized (
      select v.domain_id from domain_verifications v join domains d on d.id = v.domain_id
      where v.due_at <= now() and ${IS_TO_BE_VERIFIED}
      order by v.due_at limit ${limit} for no key update of v skip locked)
    update domain_verifications set due_at = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
    where domain_id = any(array(select domain_id from picked))
    returning domain_id as "domainId"`.execute(db);
  return rows.map(({ domainId }) => ({ domainId, kind: 'background' }));
}
