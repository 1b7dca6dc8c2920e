// A waiting claim asks that the apex of its name shows its nameservers for a while (docs/rules.md "Turns").

import { sql } from 'kysely';
import { TURN_EACH_MS } from '../../checks/claims/next-turn.ts';
import type { Database } from '../postgres/database.ts';

/** Does nothing when the claim has asked within the hour. The next check of the name settles whose turn it is. */
export async function askForTurn(db: Database, domainId: number): Promise<void> {
  await sql`
    update domains set turn_asked_at = clock_timestamp(), turn_last_asked_at = clock_timestamp()
    where id = ${domainId} and status = 'pending' and deleted_at is null and (turn_last_asked_at is null
      or turn_last_asked_at < clock_timestamp() - make_interval(secs => ${TURN_EACH_MS / 1000}))`.execute(db);
}
