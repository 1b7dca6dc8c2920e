// What callers receive while the database fails.

import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../../src/store/postgres/database.ts';
import { startTestApi, type TestApi } from '../../support/api/api.ts';
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';
import { startProxy, type TcpProxy } from '../../support/processes/tcp-proxy.ts';
import { until } from '../../support/tests/until.ts';

describe('while Postgres is gone', () => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  let api: TestApi;
  beforeAll(async () => {
    database = await createDatabase();
    proxy = await startProxy(database.url);
    const db = openDatabase(proxy.url, { connectTimeoutMs: 1000 });
    api = await startTestApi({ database, db, requestsPerMinute: 1000 });
  });
  afterAll(async () => {
    await api?.app.close();
    await api?.db.destroy();
    await proxy?.stop();
    await database?.drop();
  });

  it('every call is 503 with Retry-After, /readyz too, and all is well when it is back', async () => {
    expect((await api.ask('GET', '/domains/ns-sets')).status).toBe(200);
    expect((await api.ask('GET', '/readyz', { as: null })).status).toBe(200);
    proxy.cut();
    for (const [method, path] of [
      ['GET', '/domains/ns-sets'],
      ['POST', '/domains/'],
      ['GET', '/nowhere'],
    ] as const) {
      const { status, body, headers } = await api.ask(method, path, {
        body: method === 'POST' ? {} : undefined,
      });
      expect([status, body]).toEqual([503, { error: 'the database cannot be reached; try again' }]);
      expect(headers['retry-after']).toBe('1');
      expect(headers['x-request-id']).toBeDefined();
    }
    const notReady = await until(async () => {
      const answer = await api.ask('GET', '/readyz', { as: null });
      return answer.status === 503 && answer;
    }, 'not ready');
    expect(notReady.body).toEqual({ error: 'the database cannot be reached' });
    expect((await api.ask('GET', '/healthz', { as: null })).status).toBe(200);
    expect((await api.ask('GET', '/openapi.yaml', { as: null })).status).toBe(200);
    proxy.resume();
    await until(async () => (await api.ask('GET', '/readyz', { as: null })).status === 200, 'ready');
    expect((await api.ask('GET', '/domains/ns-sets')).status).toBe(200);
  });

  it('a database that is silent makes it not ready, within seconds', async () => {
    proxy.pause();
    const answer = await until(async () => {
      const { status, body } = await api.ask('GET', '/readyz', { as: null });
      return status === 503 && body;
    }, 'not ready');
    expect(answer).toEqual({ error: 'the database does not answer' });
    proxy.cut();
    proxy.resume();
  });
});

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

  it('every call is answered with a 503, those that wait behind a write of their domain too; then all is well', async () => {
    // The first waits for a lock and holds the domain's turn, the others wait behind it; then Postgres stops answering.
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
    for (const { status, headers, body } of answers) {
      expect([status, headers['retry-after']]).toEqual([503, expect.stringMatching(/^[1-5]$/)]);
      expect(body.error).toMatch(/^the database (does not answer|cannot be reached)/);
    }
    release();
    await until(async () => (await add('after')).status === 200, 'writes go on');
    expect(await names()).toContain('after');
  });

  it('a write whose commit may have been done says so, and a repeat with its key does nothing twice', async () => {
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
});
