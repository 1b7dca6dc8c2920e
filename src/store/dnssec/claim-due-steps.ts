// Takes signed zones whose key machine is due to be looked at, the accounts in turn.

import { sql } from 'kysely';
import { type ClaimedInTurns, claimInTurns, type DueClaim } from '../checks/claim-in-turns.ts';
import type { Database } from '../postgres/database.ts';

/** Longer than a job waits in a full queue, and than one observation takes. */
const LEASE_SECONDS = 180;

/** Ids of signed zones. */
export function claimDueSteps(db: Database, claim: DueClaim): Promise<ClaimedInTurns> {
  return claimInTurns(
    db,
    {
      table: sql`signed_zones`,
      id: sql`id`,
      join: sql``,
      isWanted: sql`v.machine is not null`,
      leaseSeconds: LEASE_SECONDS,
    },
    claim,
  );
}

/** There is nothing to look at for now; a domain that is restored is found then. */
export async function postponeStep(db: Database, signedZoneId: number, seconds: number): Promise<void> {
  await sql`
    update signed_zones set due_at = clock_timestamp() + make_interval(secs => ${seconds})
    where id = ${signedZoneId}`.execute(db);
}
