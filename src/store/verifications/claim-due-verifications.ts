// Takes domains whose TXT record is due to be looked for, the accounts in turn.

import { sql } from 'kysely';
import { type ClaimedInTurns, claimInTurns, type DueClaim } from '../checks/claim-in-turns.ts';
import type { Database } from '../postgres/database.ts';
import { IS_TO_BE_VERIFIED } from './load-verified-domain.ts';

/** Longer than a job waits in a full queue. */
const LEASE_SECONDS = 120;

/** Ids of domains. */
export function claimDueVerifications(db: Database, claim: DueClaim): Promise<ClaimedInTurns> {
  return claimInTurns(
    db,
    {
      table: sql`domain_verifications`,
      id: sql`domain_id`,
      join: sql`join domains d on d.id = v.domain_id`,
      isWanted: IS_TO_BE_VERIFIED,
      leaseSeconds: LEASE_SECONDS,
    },
    claim,
  );
}
