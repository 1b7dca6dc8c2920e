import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isOutage } from '../../src/api/outage.ts';
import { openDatabase } from '../../src/store/database.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { startProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { until } from '../support/until.ts';

describe('an error', () => {
  const withCode = (code: string, more: object = {}) => Object.assign(new Error(code), { code, ...more });

  it.each([
    'ECONNREFUSED',
    'ENOENT',
    'ECONNRESET',
    '57P01',
    '57P03',
    '08006',
    '53300',
    '25006',
    '40P01',
  ])('with code %s means that Postgres cannot serve now', (code) =>
    expect(isOutage(withCode(code))).toBe(true));

  it.each(['23505', '42P01', '22P02', 'ERR_ASSERTION', '57014'])('with code %s is a bug', (code) =>
    expect(isOutage(withCode(code))).toBe(false));

  it('of the driver is known by its words, of many addresses by all of them', () => {
    expect(isOutage(new Error('Connection terminated unexpectedly'))).toBe(true);
    expect(isOutage(new Error('timeout exceeded when trying to connect'))).toBe(true);
    expect(isOutage(new AggregateError([withCode('ECONNREFUSED'), withCode('EHOSTUNREACH')]))).toBe(true);
    expect(isOutage(new AggregateError([withCode('ECONNREFUSED'), new Error('x')]))).toBe(false);
    expect(isOutage(new AggregateError([]))).toBe(false);
    expect(isOutage(withCode('ENOENT', { syscall: 'open' }))).toBe(false);
    expect(isOutage('ECONNREFUSED')).toBe(false);
  });
});

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
    expect(answer).toEqual({ error: 'the database cannot be reached' });
    proxy.cut();
    proxy.resume();
  });
});
