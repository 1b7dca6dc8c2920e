import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { listAudit } from '../../../src/store/audit/load-audit.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';

let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  database = await createDatabase();
  db = database.db;
  // Rare and frequent actions, actors and accounts, over a year.
  await sql`
    insert into audit_log (at, action, actor_kind, actor_account_id, account_id, domain_id)
    select timestamptz '2030-01-01' + make_interval(mins => i),
      case when i % 5000 = 0 then 'plan.create' when i % 7 = 0 then 'session.begin' else 'records.edit' end,
      case when i % 4000 = 0 then 'cli' when i % 3 = 0 then 'key' else 'session' end,
      case when i % 4000 <> 0 then 1 + i % 500 end,
      case when i % 7 = 0 then 1 + i % 900 end,
      case when i % 7 <> 0 then 1 + i % 3000 end
    from generate_series(1, 60000) i`.execute(db);
  await sql`analyze audit_log`.execute(db);
});
afterAll(() => database.drop());

async function expected(where: string): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select id from audit_log where ${sql.raw(where)} order by id desc limit 5`.execute(db);
  return rows.map(({ id }) => id);
}

/** What a call gives, and how many rows of the table it reads. */
async function counted(filter: Parameters<typeof listAudit>[1]): Promise<{ ids: number[]; reads: number }> {
  return await db.transaction().execute(async (trx) => {
    const count = async () => {
      const { rows } = await sql<{ read: number }>`
        select seq_tup_read + idx_tup_fetch as read from pg_stat_xact_user_tables where relname = 'audit_log'`.execute(
        trx,
      );
      return rows[0]?.read ?? 0;
    };
    const before = await count();
    const rows = await listAudit(trx, filter, { limit: 5 });
    return { ids: rows.map(({ id }) => id), reads: (await count()) - before };
  });
}

it.each([
  ['all', {}, 'true'],
  ['a rare action', { actions: ['plan.create'] }, "action = 'plan.create'"],
  [
    'several actions',
    { actions: ['plan.create', 'session.begin'] },
    "action in ('plan.create', 'session.begin')",
  ],
  ['a rare actor', { actors: ['cli'] }, "actor_kind = 'cli'"],
  ['the doing of one account', { actorId: 7 }, 'actor_account_id = 7'],
  ['one account', { accountId: 8 }, 'account_id = 8'],
  ['one domain', { domainId: 9 }, 'domain_id = 9'],
  [
    'a time',
    { since: new Date('2030-01-05T00:00:00Z'), until: new Date('2030-01-05T06:00:00Z') },
    "at >= '2030-01-05Z' and at < '2030-01-05 06:00Z'",
  ],
  ['a time before all', { until: new Date('2029-01-01T00:00:00Z') }, 'false'],
  ['a time after all', { since: new Date('2040-01-01T00:00:00Z') }, 'false'],
  ['what is newer', { after: 59_990 }, 'id > 59990'],
  [
    'several things at once',
    { actions: ['records.edit'], actors: ['key'], domainId: 9 },
    "action = 'records.edit' and actor_kind = 'key' and domain_id = 9",
  ],
] as const)('finds %s, and reads little else', async (_, filter, where) => {
  const { ids, reads } = await counted(filter);
  expect(ids).toEqual(await expected(where));
  expect(reads).toBeLessThan(12_000); // a time is found among the ids to within 10,000
  if (!('since' in filter) && !('until' in filter)) expect(reads).toBeLessThan(200);
});
