import { createServer } from 'node:net';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrate } from '../../src/features/migrate.ts';
import { listChecks } from '../../src/store/checks/check-runs.ts';
import { createDatabase, TEST_SETTINGS, type TestDatabase } from '../support/database/database.ts';
import { newAccount, newDomain } from '../support/database/domains.ts';
import { HAS_REDIS, NEEDS_REDIS, startRedis } from '../support/database/redis.ts';
import { type ForkedWorker, forkedWorkers, statusOf } from '../support/processes/forked-worker.ts';
import { startProxy } from '../support/processes/tcp-proxy.ts';
import { until } from '../support/tests/until.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
  const accountId = await newAccount(database.db, 'me@example.org');
  await newDomain(database.db, accountId);
});
afterAll(() => database?.drop());

const fork = forkedWorkers(new URL('../../workers/main.ts', import.meta.url));
const start = (env: Record<string, string> = {}) => fork({ DATABASE_URL: database.url, ...env });
const ready = (started: ForkedWorker) =>
  until(
    () => started.told.some(({ kind }) => kind === 'ready'),
    () => `it is ready: ${started.log()}`,
  );

describe('the workers process', () => {
  it('checks due domains, reports the outcomes, and ends on SIGTERM', async () => {
    const started = await start();
    await ready(started);
    expect(await statusOf(`${started.metrics}/healthz`)).toBe(200);
    expect(await statusOf(`${started.metrics}/readyz`)).toBe(200);
    const domain = await database.db.selectFrom('domains').select('id').executeTakeFirstOrThrow();
    const [run] = await until(async () => {
      const runs = await listChecks(database.db, domain.id, { limit: 5 });
      return runs.length > 0 && runs;
    }, 'the domain is checked');
    expect(run).toMatchObject({ kind: 'background', verdict: 'unknown' });
    const metrics = await until(async () => {
      const text = await (await fetch(`${started.metrics}/metrics`)).text();
      return /^zonefleet_check_runs_total\{kind="background",verdict="unknown"\} 1$/m.test(text) && text;
    });
    expect(metrics).toMatch(/^zonefleet_queue_jobs\{queue="check-delegation",state="waiting"\} 0$/m);
    expect(metrics).toMatch(/^zonefleet_resolver_packets_total\{kind="sent"\} [1-9]/m);
    started.process.kill('SIGTERM');
    expect(await started.exited).toBe(0);
  });

  it('reports faults of the nameserver pool on /readyz, which remains 200, and logs them', async () => {
    const nameserverPool = [['ns1.a.test.'], ['ns[1-9].b.test.']];
    const nameserverAddresses = [['127.0.0.53'], ['127.0.1.53']];
    await migrate(database.db, { ...TEST_SETTINGS, nameserverPool, nameserverAddresses });
    try {
      const started = await start();
      await ready(started);
      const warned = await until(async () => {
        const answer = await fetch(`${started.metrics}/readyz`);
        const text = await answer.text();
        return text.includes('warning: ') && [answer.status, text];
      }, 'it warns');
      expect(warned).toEqual([
        200,
        expect.stringMatching(/^ready\nwarning: nameserver pool: ns1\.a\.test: /),
      ]);
      const metrics = await (await fetch(`${started.metrics}/metrics`)).text();
      expect(metrics).toMatch(/^zonefleet_nameserver_pool_faults 1[0-9]$/m);
      expect(metrics).toMatch(/^zonefleet_nameserver_pool_given_ratio 0$/m);
      expect(started.log()).toContain('the nameserver pool has faults');
      started.process.kill('SIGTERM');
      expect(await started.exited).toBe(0);
    } finally {
      await migrate(database.db, TEST_SETTINGS);
    }
  });

  it('waits for Postgres, and is not ready while it is unavailable', async () => {
    const proxy = await startProxy(database.url);
    proxy.cut();
    try {
      const started = await start({ DATABASE_URL: proxy.url });
      await until(async () => (await statusOf(`${started.metrics}/healthz`)) === 200, 'alive');
      expect(await statusOf(`${started.metrics}/readyz`)).toBe(503);
      proxy.resume();
      await ready(started);
      expect(await statusOf(`${started.metrics}/readyz`)).toBe(200);
      proxy.cut();
      await until(async () => (await statusOf(`${started.metrics}/readyz`)) === 503);
      started.process.kill('SIGTERM');
      expect(await started.exited).toBeOneOf([0, 1]); // 1: it gave up waiting
    } finally {
      await proxy.stop();
    }
  });

  it('starts although its connection is lost while it reads what the breaker holds', async () => {
    const { db } = database;
    const blocked = sql<{ pid: number }>`
      select pid from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%breaker_trips%'`;
    let started: ForkedWorker | undefined;
    await db.transaction().execute(async (holder) => {
      await sql`lock table breaker_trips in access exclusive mode`.execute(holder);
      started = await start();
      const pid = await until(async () => (await blocked.execute(db)).rows[0]?.pid, 'it waits for the table');
      await sql`select pg_terminate_backend(${pid})`.execute(db);
      await until(() => started?.log().includes('the database cannot be reached'), 'it lost the connection');
    });
    await ready(started as ForkedWorker);
  });

  it.skipIf(!HAS_REDIS)(
    `checks with its queue on Redis, and is not ready without Postgres${NEEDS_REDIS}`,
    async () => {
      const redis = await startRedis();
      const proxy = await startProxy(database.url);
      const accountId = await newAccount(database.db, 'redis@example.org');
      const { id } = await newDomain(database.db, accountId, 'redis.example.com.');
      try {
        const started = await start({ DATABASE_URL: proxy.url, REDIS_URL: redis.url });
        await ready(started);
        await until(
          async () => (await listChecks(database.db, id, { limit: 5 })).length > 0,
          'it is checked',
        );
        expect(await statusOf(`${started.metrics}/readyz`)).toBe(200);
        proxy.cut();
        await until(async () => (await statusOf(`${started.metrics}/readyz`)) === 503, 'it is not ready');
        const reason = await (await fetch(`${started.metrics}/readyz`)).text();
        expect(reason).toMatch(/^the database (cannot be reached|does not answer)\n$/);
        proxy.resume();
        await until(async () => (await statusOf(`${started.metrics}/readyz`)) === 200, 'it is ready again');
      } finally {
        await Promise.all([proxy.stop(), redis.stop()]);
      }
    },
  );

  it('reports why it cannot start', async () => {
    const empty = await createDatabase({ empty: true });
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as { port: number };
    const reasonOf = async (env: Record<string, string>) => {
      const started = await start(env);
      expect(await started.exited).toBe(1);
      return started.told.find(({ kind }) => kind === 'failed')?.reason;
    };
    const [schema, metrics, hints] = await Promise.all([
      reasonOf({ DATABASE_URL: empty.url }),
      reasonOf({ METRICS_LISTEN: `127.0.0.1:${port}` }),
      reasonOf({ ROOT_HINTS: '/nonexistent/hints' }),
    ]);
    expect(schema).toContain('migrate');
    expect(metrics).toContain(`METRICS_LISTEN: 127.0.0.1:${port} is in use by another program`);
    expect(hints).toMatch(/^ROOT_HINTS: /);
    await new Promise((resolve) => other.close(resolve));
    await empty.drop();
  });
});
