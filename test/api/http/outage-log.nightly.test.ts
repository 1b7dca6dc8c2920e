import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../../src/store/postgres/database.ts';
import { startTestApi, type TestApi } from '../../support/api/api.ts';
import { Browser, emailOf, givePassword, PASSWORD } from '../../support/api/people.ts';
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';
import { startProxy, type TcpProxy } from '../../support/processes/tcp-proxy.ts';
import { until } from '../../support/tests/until.ts';

describe('while Postgres hangs', () => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  let api: TestApi;
  beforeAll(async () => {
    database = await createDatabase();
    proxy = await startProxy(database.url);
    const db = openDatabase(proxy.url, {
      connectTimeoutMs: 2000,
      limits: { readMs: 1000, writeMs: 2000 },
    });
    api = await startTestApi({ database, db });
    await api.makeDomain('hangs.example.com');
  });
  afterAll(async () => {
    await proxy?.stop();
    await api?.app.close();
    await api?.db.destroy();
    await database?.drop();
  });

  const path = '/domains/hangs.example.com/records/';
  const add = (name: string, key?: string) =>
    api.ask('POST', path, {
      body: { name, type: 'A', destination: '192.0.2.1' },
      headers: key === undefined ? {} : { 'idempotency-key': key },
    });
  const names = async () => (await api.ask('GET', path)).body.map(({ name }: { name: string }) => name);

  it('every call and /readyz respond 503, including calls that wait for a write of their domain, and all recover afterwards', async () => {
    // The first call waits for a lock while it occupies the domain's queue, and the others wait for it. Then
    // PostgreSQL stops responding.
    const { release, calls } = await database.db.transaction().execute(async (trx) => {
      await sql`select from domains for update`.execute(trx);
      const calls = [add('a'), add('b'), add('c')];
      await until(async () => {
        const { rows } = await sql`
          select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
          database.db,
        );
        return rows.length > 0;
      }, 'a write waits for the domain');
      proxy.pause();
      return { release: () => proxy.resume(), calls };
    });
    const answers = await Promise.all([...calls, api.ask('GET', path), add('d')]);
    const ready = () => api.ask('GET', '/readyz', { as: null });
    const notReady = await until(async () => {
      const { status, body } = await ready();
      return status === 503 && body;
    }, 'it is not ready');
    expect(notReady).toEqual({ error: 'the database does not respond' });
    expect((await api.ask('GET', '/healthz', { as: null })).status).toBe(200);
    for (const { status, headers, body } of answers) {
      expect([status, headers['retry-after']]).toEqual([503, expect.stringMatching(/^[1-5]$/)]);
      expect(body.error).toMatch(/^the database (does not respond|cannot be reached)/);
    }
    release();
    await until(async () => (await add('after')).status === 200, 'writes go on');
    await until(async () => (await ready()).status === 200, 'it is ready');
    expect(await names()).toContain('after');
  });

  it('a write whose commit may have succeeded reports that, and a repetition with its key has no second effect', async () => {
    const commits = sql`
      create function hold() returns trigger language plpgsql as $$
        begin perform pg_advisory_xact_lock(4711); return null; end $$;
      create constraint trigger hold after insert on records deferrable initially deferred
        for each row execute function hold()`;
    await commits.execute(database.db);
    const first = await database.db.connection().execute(async (connection) => {
      await sql`select pg_advisory_lock(4711)`.execute(connection);
      const first = add('once', 'order-1');
      await until(async () => {
        const { rows } = await sql`
          select from pg_stat_activity where query = 'commit' and wait_event_type = 'Lock'`.execute(
          connection,
        );
        return rows.length > 0;
      }, 'the commit is under way');
      proxy.pause();
      await sql`select pg_advisory_unlock(4711)`.execute(connection);
      return first;
    });
    expect(first.status).toBe(503);
    expect(first.body.error).toContain('may have been carried out');
    proxy.resume();
    const repeat = await until(async () => {
      const answer = await add('once', 'order-1');
      return answer.status === 200 && answer;
    }, 'the repeat is answered');
    expect(repeat.headers['idempotent-replay']).toBe('true');
    expect((await names()).filter((name: string) => name === 'once')).toHaveLength(1);
  });

  it('a session gets session_check_failed, a key only the 503, and both are valid afterwards', async () => {
    await givePassword(api, 'owner');
    const browser = new Browser(api);
    await browser.login('owner');
    const { token } = (await new Browser(api).login('owner', { bearer: true })).body;
    const askAll = async () => [
      await browser.ask('GET', '/whoami'),
      await api.ask('GET', '/whoami', { as: token }),
      await api.ask('GET', '/whoami'),
    ];
    expect((await askAll()).map(({ status }) => status)).toEqual([200, 200, 200]);

    proxy.cut();
    const [cookie, bearer, key] = await askAll();
    for (const answer of [cookie, bearer])
      expect([answer?.status, answer?.body.code, answer?.headers['retry-after']]).toEqual([
        503,
        'session_check_failed',
        '1',
      ]);
    expect([key?.status, key?.body.code]).toEqual([503, undefined]);
    const login = await new Browser(api).ask('POST', '/auth/login', {
      email: emailOf('owner'),
      password: PASSWORD,
    });
    expect([login.status, login.body.code]).toEqual([503, undefined]);

    proxy.resume();
    await until(async () => (await askAll()).every(({ status }) => status === 200), 'all are valid again');
  });
});
