import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAccount } from '../../src/store/accounts/accounts.ts';
import { countAudit, listAudit } from '../../src/store/audit/load-audit.ts';
import { audited, noteFailedSignIn } from '../../src/store/audit/write-audit.ts';
import { purgeAudit } from '../../src/store/housekeeping/purges.ts';
import { type Database, openDatabase } from '../../src/store/postgres/database.ts';
import { rollBackTo } from '../../src/store/postgres/transaction.ts';
import { auditAfter, lastAudit } from '../support/database/audit-rows.ts';
import { asRole } from '../support/database/database.ts';
import { keptDatabase } from '../support/tests/shared-database.ts';

describe('load-audit', () => {
  const { db, query, column } = keptDatabase();

  beforeAll(async () => {
    // Rare and frequent actions, actors and accounts, over a year.
    await query`
    insert into audit_log (at, action, actor_kind, actor_account_id, account_id, domain_id)
    select timestamptz '2030-01-01' + make_interval(mins => i),
      case when i % 5000 = 0 then 'plan.create' when i % 7 = 0 then 'session.begin' else 'records.edit' end,
      case when i % 4000 = 0 then 'cli' when i % 3 = 0 then 'key' else 'session' end,
      case when i % 4000 <> 0 then 1 + i % 500 end,
      case when i % 7 = 0 then 1 + i % 900 end,
      case when i % 7 <> 0 then 1 + i % 3000 end
    from generate_series(1, 60000) i`;
    await query`analyze audit_log`;
  });

  async function expected(where: string): Promise<number[]> {
    return await column<number>`
    select id from audit_log where ${sql.raw(where)} order by id desc limit 5`;
  }

  /** Returns the rows of a call, and how many rows of the table it reads. */
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
    ['the actions of one account', { actorId: 7 }, 'actor_account_id = 7'],
    ['one account', { accountId: 8 }, 'account_id = 8'],
    ['one domain', { domainId: 9 }, 'domain_id = 9'],
    [
      'a time',
      { since: new Date('2030-01-05T00:00:00Z'), until: new Date('2030-01-05T06:00:00Z') },
      "at >= '2030-01-05Z' and at < '2030-01-05 06:00Z'",
    ],
    ['a time before all', { until: new Date('2029-01-01T00:00:00Z') }, 'false'],
    ['a time after all', { since: new Date('2040-01-01T00:00:00Z') }, 'false'],
    ['newer rows', { after: 59_990 }, 'id > 59990'],
    [
      'several filters',
      { actions: ['records.edit'], actors: ['key'], domainId: 9 },
      "action = 'records.edit' and actor_kind = 'key' and domain_id = 9",
    ],
  ] as const)('finds %s, and reads little else', async (_, filter, where) => {
    const { ids, reads } = await counted(filter);
    expect(ids).toEqual(await expected(where));
    expect(reads).toBeLessThan(12_000); // a time is mapped to ids with a tolerance of 10,000
    if (!('since' in filter) && !('until' in filter)) expect(reads).toBeLessThan(200);
  });
});

describe('write-audit', () => {
  const { db, url, query } = keptDatabase();
  let api: Database;
  const ids: number[] = [];

  beforeAll(async () => {
    api = openDatabase(asRole(url, 'zonefleet_api'));
    for (const name of ['ann', 'bob', 'cid']) {
      const made = await createAccount(db, { email: `${name}@shop.example` });
      if (made.kind === 'created') ids.push(made.account.id);
    }
  });
  afterAll(() => api.destroy());

  const [ann, bob] = [() => ids[0] as number, () => ids[1] as number];
  const BY = { kind: 'cli', name: 'tester' } as const;

  it('a row is stored only if its work is committed', async () => {
    const before = await lastAudit(db);
    const work = (fails: boolean) =>
      audited(db, { action: 'account.update', by: BY }, async (trx, tell) => {
        await trx.updateTable('accounts').set({ name: 'Ann' }).where('id', '=', ann()).execute();
        tell({ accountId: ann(), before: { name: null }, after: { name: 'Ann', password: 'hunter2' } });
        if (fails) rollBackTo('refused');
        return 'done';
      });
    expect(await work(true)).toBe('refused');
    expect(await auditAfter(db, before)).toEqual([]);
    expect(await work(false)).toBe('done');
    expect(await auditAfter(db, before)).toMatchObject([
      { action: 'account.update', actor: BY, accountId: ann(), targetId: ann(), after: { name: 'Ann' } },
    ]);
  });

  describe('failed sign-ins', () => {
    const failures = async () => (await auditAfter(db)).filter(({ action }) => action === 'session.fail');
    const clear = () => query`delete from audit_log where action = 'session.fail'`;
    const fail = (emailKey: string, address = '192.0.2.1') =>
      noteFailedSignIn(api, { emailKey }, { step: 'password', address });

    it('leave one row per minute and account, from any address, and none for unknown emails', async () => {
      await clear();
      for (let i = 0; i < 30; i++) await fail('ann@shop.example', `192.0.2.${i}`);
      await noteFailedSignIn(api, { accountId: ann() }, { step: 'code', address: '192.0.2.9' });
      await fail('nobody@shop.example');
      const rows = await failures();
      expect(rows.length).toBeLessThanOrEqual(2); // a minute may end during the test
      expect(rows[0]).toMatchObject({
        accountId: ann(),
        after: { step: 'password' },
        actor: { kind: 'session', address: '192.0.2.0' },
      });
    });

    it('leave at most 200 rows per minute in total', async () => {
      await clear();
      await query`
      insert into audit_log (action, actor_kind, account_id, failed_minute)
      select 'session.fail', 'session', 1000000 + i, m
      from generate_series(1, 200) i, generate_series(date_trunc('minute', clock_timestamp()),
        clock_timestamp() + interval '3 minutes', interval '1 minute') m`;
      await fail('bob@shop.example');
      expect((await failures()).filter(({ accountId }) => accountId === bob())).toEqual([]);
      await clear();
      await fail('bob@shop.example');
      expect((await failures()).filter(({ accountId }) => accountId === bob())).toHaveLength(1);
    });
  });

  it('rows older than 400 days are deleted in batches', async () => {
    await query`truncate audit_log restart identity`;
    await query`
      insert into audit_log (action, actor_kind, at)
      select 'account.update', 'system', clock_timestamp() - make_interval(hours => 9636 - 24 * i) from generate_series(0, 4) i`;
    expect(await purgeAudit(db, 1)).toBe(true);
    expect(await purgeAudit(db, 2)).toBe(false);
    expect(await countAudit(db, {})).toBe(3);
    expect(await purgeAudit(db)).toBe(false);
    expect(await countAudit(db, {})).toBe(3);
  });
});
