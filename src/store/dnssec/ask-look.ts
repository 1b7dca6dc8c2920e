// Has the keys of a domain looked at as soon as a worker is free, the DS set at the parent too.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

/** Longer than any pause between two questions to the parent. */
const BACK_MS = 86_400_000;

/** False: the domain has no keys. A look that is under way ends without a result. */
export async function askLook(db: Database, domainId: number): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update signed_zones set due_at = clock_timestamp(), seq = seq + 1,
      machine = case when machine #> '{parent,askedAt}' = 'null' then machine
        else jsonb_set(machine, '{parent,askedAt}', to_jsonb((machine #>> '{parent,askedAt}')::numeric - ${BACK_MS}::numeric)) end
    where domain_id = ${domainId} and machine is not null`.execute(db);
  return numAffectedRows === 1n;
}
