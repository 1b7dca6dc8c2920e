// Creates hundreds of thousands of domains of one account inside Postgres within seconds, without records.

import { sql } from 'kysely';
import type { Database } from '../../../src/store/postgres/database.ts';

const STATUSES = `(array['pending', 'active', 'moved', 'disabled'])[1 + i % 4]`;

/** Keeps each statement short. */
const AT_ONCE = 25_000;

/** Names are `n1.many.` and so on. Each has its own times, and a quarter have no next check. */
export async function makeManyDomains(db: Database, accountId: number, count: number): Promise<void> {
  for (let first = 1; first <= count; first += AT_ONCE)
    await makeSome(db, accountId, first, Math.min(count, first + AT_ONCE - 1), count);
  await sql`analyze domains, domain_checks`.execute(db);
}

async function makeSome(db: Database, accountId: number, first: number, last: number, count: number) {
  await db.transaction().execute(async (trx) => {
    await sql`set local session_replication_role = 'replica'`.execute(trx); // no foreign keys, no triggers
    await sql`
      with made as (
        insert into domains (account_id, name, unicode, dns_mode, status, served, serial, answers_generation, created_at,
          updated_at, zone_id)
        select ${accountId}, 'n' || i || '.many.', 'n' || i || '.many', 'managed', ${sql.raw(STATUSES)}, 'none', 1, 1,
          now() - make_interval(secs => (i::bigint * 7919) % ${count}), now(), null
        from generate_series(${first}::integer, ${last}::integer) i returning id, account_id)
      insert into domain_checks (domain_id, account_id, deleted, parent, next_at)
      select id, account_id, false, 'many.', case when id % 4 > 0 then now() + make_interval(secs => (id::bigint * 104729) % ${count}) end
      from made`.execute(trx);
  });
}
