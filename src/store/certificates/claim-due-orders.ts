// Takes orders of certificates that are due, the accounts in turn.

import { sql } from 'kysely';
import { type ClaimedInTurns, claimInTurns, type DueClaim } from '../checks/claim-in-turns.ts';
import type { Database } from '../postgres/database.ts';

/** Longer than a job waits in a full queue, and than one run takes. */
const LEASE_SECONDS = 180;

export function claimDueOrders(db: Database, claim: DueClaim): Promise<ClaimedInTurns> {
  return claimInTurns(
    db,
    {
      table: sql`acme_orders`,
      id: sql`id`,
      join: sql``,
      isWanted: sql`true`,
      leaseSeconds: LEASE_SECONDS,
    },
    claim,
  );
}
