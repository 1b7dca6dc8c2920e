import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { pathToFileURL } from 'node:url';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { generateKey } from '../../src/store/accounts/api-keys.ts';
import { createDatabase, type TestDatabase } from '../support/database/database.ts';
import { freePort } from '../support/processes/free-port.ts';
import { startProxy } from '../support/processes/tcp-proxy.ts';
import { until } from '../support/tests/until.ts';

const TSX = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;

interface Started {
  readonly process: ChildProcess;
  readonly url: string;
  readonly metrics: string;
  /** The messages that it sent to its parent process. */
  readonly told: { kind: string; reason?: string }[];
  readonly exited: Promise<number | null>;
}

const processes: ChildProcess[] = [];
let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterEach(() => {
  for (const child of processes.splice(0)) child.kill('SIGKILL');
});
afterAll(() => database?.drop());

async function start(env: Record<string, string> = {}): Promise<Started> {
  const [port, metricsPort] = [await freePort(), await freePort()];
  const child = fork(new URL('../../src/api/main.ts', import.meta.url), [], {
    execArgv: ['--import', TSX],
    env: {
      PATH: process.env.PATH,
      RUN_AS: 'off', // root owns the test files
      DATABASE_URL: database.url,
      DATA_DIR: '/nonexistent/zonefleet',
      API_LISTEN: `127.0.0.1:${port},127.0.0.2:${port}`,
      METRICS_LISTEN: `127.0.0.1:${metricsPort}`,
      LOG_LEVEL: 'fatal',
      ...env,
    },
  });
  processes.push(child);
  const told: Started['told'] = [];
  child.on('message', (message) => told.push(message as Started['told'][number]));
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  const [url, metrics] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${metricsPort}`];
  return { process: child, url, metrics, told, exited };
}

const ready = (started: Started) =>
  until(() => started.told.some(({ kind }) => kind === 'ready'), 'it is ready');

describe('the API process', () => {
  it('serves on each address, accepts BOOTSTRAP_API_KEY, counts its responses, and ends on SIGTERM', async () => {
    const key = generateKey();
    const started = await start({ BOOTSTRAP_API_KEY: key });
    await ready(started);
    const headers = { authorization: `Bearer ${key}` };
    for (const url of [started.url, started.url.replace('127.0.0.1', '127.0.0.2')]) {
      const sets = await fetch(`${url}/domains/ns-sets`, { headers });
      expect([sets.status, await sets.json()]).toEqual([200, [['ns1.example.net', 'ns2.example.net']]]);
      expect(sets.headers.get('ratelimit-limit')).toBe('300');
    }
    await fetch(`${started.url}/nowhere`, { headers });
    for (const url of [started.url, started.metrics]) {
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
      expect((await fetch(`${url}/readyz`)).status).toBe(200);
    }
    const metrics = await (await fetch(`${started.metrics}/metrics`)).text();
    expect(metrics).toContain(
      'zonefleet_api_requests_total{route="/domains/ns-sets",method="GET",status="200"} 2',
    );
    expect(metrics).toContain('zonefleet_api_requests_total{route="none",method="none",status="404"} 1');
    expect(metrics).toContain('zonefleet_api_request_seconds_bucket');
    expect((await fetch(`${started.metrics}/nowhere`)).status).toBe(404);
    expect((await fetch(`${started.url}/metrics`)).status).toBe(401);
    started.process.kill('SIGTERM');
    expect(await started.exited).toBe(0);
  });

  it('is not ready before BOOTSTRAP_API_KEY is accepted', async () => {
    const key = generateKey();
    const headers = { authorization: `Bearer ${key}` };
    let started: Started | undefined;
    await database.db.transaction().execute(async (trx) => {
      await sql`lock table api_keys in exclusive mode`.execute(trx); // no key can be added
      started = await start({ BOOTSTRAP_API_KEY: key });
      const { url, metrics } = started;
      const refused = await until(async () => {
        const answer = await fetch(`${url}/domains/ns-sets`, { headers }).catch(() => undefined);
        return (
          answer?.status === 401 && (await Promise.all([url, metrics].map((at) => fetch(`${at}/readyz`))))
        );
      }, 'it serves, but does not know its key');
      expect(refused.map(({ status }) => status)).toEqual([503, 503]);
    });
    const { url, metrics } = started as unknown as Started;
    await until(async () => (await fetch(`${metrics}/readyz`)).ok, 'it is ready');
    expect((await fetch(`${url}/domains/ns-sets`, { headers })).status).toBe(200);
  });

  it('names the setting that is wrong if its address is in use', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const started = await start({ API_LISTEN: `127.0.0.1:${port}` });
    expect(await started.exited).toBe(1);
    const reason = expect.stringContaining(`API_LISTEN: 127.0.0.1:${port} is in use by another program`);
    expect(started.told).toEqual([{ kind: 'failed', reason }]);
    server.close();
  });

  it('does not start with PAYMENT_URL alone, since a gateway needs its secret', async () => {
    const api = await start({ PAYMENT_URL: 'https://pay.example.net/begin' });
    expect(await api.exited).not.toBe(0);
    const reason = 'PAYMENT_URL and PAYMENT_SECRET: set both, or none';
    expect(api.told.map((each) => each.reason)).toEqual([reason]);
  });

  it('refuses to start with a database without its schema', async () => {
    const empty = await createDatabase({ empty: true });
    const started = await start({ DATABASE_URL: empty.url });
    expect(await started.exited).toBe(1);
    expect(started.told[0]?.reason).toMatch(/run `zonefleet migrate`/);
    await empty.drop();
  });

  it('responds 503 until PostgreSQL is available, if it was started before', async () => {
    const proxy = await startProxy(database.url);
    proxy.cut();
    const started = await start({ DATABASE_URL: proxy.url });
    await until(
      () =>
        fetch(`${started.url}/healthz`).then(
          ({ ok }) => ok,
          () => false,
        ),
      'it listens',
    );
    const answer = await fetch(`${started.url}/domains/ns-sets`, { headers: { 'x-api-key': generateKey() } });
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
    expect((await fetch(`${started.metrics}/readyz`)).status).toBe(503);
    expect(started.told).toEqual([]);
    proxy.resume();
    await ready(started);
    expect((await fetch(`${started.url}/domains/ns-sets`)).status).toBe(401);
    started.process.kill('SIGTERM');
    expect(await started.exited).toBe(0);
    await proxy.stop();
  });
});
