import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAccount } from '../../../src/store/accounts/accounts.ts';
import { countAudit, listAudit } from '../../../src/store/audit/load-audit.ts';
import { audited, noteFailedSignIn, writeAudit } from '../../../src/store/audit/write-audit.ts';
import { purgeAudit } from '../../../src/store/housekeeping/purge-audit.ts';
import { type Database, openDatabase } from '../../../src/store/postgres/database.ts';
import { rollBackTo } from '../../../src/store/postgres/transaction.ts';
import { auditAfter, lastAudit } from '../../support/database/audit-rows.ts';
import { asRole, createDatabase, type TestDatabase } from '../../support/database/database.ts';

let database: TestDatabase;
let db: Database;
let api: Database;
const ids: number[] = [];

beforeAll(async () => {
  database = await createDatabase();
  db = database.db;
  api = openDatabase(asRole(database.url, 'zonefleet_api'));
  for (const name of ['ann', 'bob', 'cid']) {
    const made = await createAccount(db, { email: `${name}@shop.example` });
    if (made.kind === 'created') ids.push(made.account.id);
  }
});
afterAll(async () => {
  await api.destroy();
  await database.drop();
});

const [ann, bob] = [() => ids[0] as number, () => ids[1] as number];
const BY = { kind: 'cli', name: 'tester' } as const;

describe('a row', () => {
  it('is there with its work, or neither is', async () => {
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

  it('is written and read by the API, which can neither change nor delete it; a worker only deletes', async () => {
    await writeAudit(api, { action: 'account.password', by: BY, accountId: ann() });
    expect((await listAudit(api, { accountId: ann() }, { limit: 1 }))[0]?.action).toBe('account.password');
    await expect(sql`update audit_log set action = 'x'`.execute(api)).rejects.toThrow(/permission denied/);
    await expect(sql`delete from audit_log`.execute(api)).rejects.toThrow(/permission denied/);
    const worker = openDatabase(asRole(database.url, 'zonefleet_worker'));
    await expect(sql`update audit_log set action = 'x'`.execute(worker)).rejects.toThrow(/permission denied/);
    const node = openDatabase(asRole(database.url, 'zonefleet_node'));
    await expect(sql`select from audit_log`.execute(node)).rejects.toThrow(/permission denied/);
    await Promise.all([worker.destroy(), node.destroy()]);
  });
});

describe('sign-ins that fail', () => {
  const failures = async () => (await auditAfter(db)).filter(({ action }) => action === 'session.fail');
  const clear = () => sql`delete from audit_log where action = 'session.fail'`.execute(db);
  const fail = (emailKey: string, address = '192.0.2.1') =>
    noteFailedSignIn(api, { emailKey }, { step: 'password', address });

  it('are one row a minute for an account, however many and from wherever, and none for a stranger', async () => {
    await clear();
    for (let i = 0; i < 30; i++) await fail('ann@shop.example', `192.0.2.${i}`);
    await noteFailedSignIn(api, { accountId: ann() }, { step: 'code', address: '192.0.2.9' });
    await fail('nobody@shop.example');
    const rows = await failures();
    expect(rows.length).toBeLessThanOrEqual(2); // a minute may end meanwhile
    expect(rows[0]).toMatchObject({
      accountId: ann(),
      after: { step: 'password' },
      actor: { kind: 'session', address: '192.0.2.0' },
    });
  });

  it('are at most 200 a minute in all', async () => {
    await clear();
    await sql`
      insert into audit_log (action, actor_kind, account_id, failed_minute)
      select 'session.fail', 'session', 1000000 + i, m
      from generate_series(1, 200) i, generate_series(date_trunc('minute', clock_timestamp()),
        clock_timestamp() + interval '3 minutes', interval '1 minute') m`.execute(db);
    await fail('bob@shop.example');
    expect((await failures()).filter(({ accountId }) => accountId === bob())).toEqual([]);
    await clear();
    await fail('bob@shop.example');
    expect((await failures()).filter(({ accountId }) => accountId === bob())).toHaveLength(1);
  });
});

describe('old rows', () => {
  it('go after 400 days, some at a time', async () => {
    await sql`truncate audit_log restart identity`.execute(db);
    await sql`
      insert into audit_log (action, actor_kind, at)
      select 'account.update', 'system', clock_timestamp() - make_interval(hours => 9636 - 24 * i) from generate_series(0, 4) i`.execute(
      db,
    );
    expect(await purgeAudit(db, 1)).toBe(true);
    expect(await purgeAudit(db, 2)).toBe(false);
    expect(await countAudit(db, {})).toBe(3);
    expect(await purgeAudit(db)).toBe(false);
    expect(await countAudit(db, {})).toBe(3);
  });
});
