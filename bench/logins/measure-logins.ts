// A thousand users sign in concurrently, each from a different network: the delay of other calls, and the API's memory.

import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { migrate } from '../../src/features/migrate.ts';
import { createAccount } from '../../src/store/accounts/accounts.ts';
import { generateKey } from '../../src/store/accounts/api-keys.ts';
import { openDatabase } from '../../src/store/postgres/database.ts';
import { freePort } from '../../test/support/processes/free-port.ts';
import type { BenchOptions } from '../part.ts';
import { benchCluster } from '../postgres/cluster.ts';
import { BENCH_SETTINGS } from '../postgres/zonefleet-database.ts';
import { pssBytes } from '../process-tree.ts';
import { fleetCommand, runProgram, runToEnd } from '../program.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const READY_MS = 60_000;
const BURST_MS = 120_000;
const LOGINS = 1000;
const SAMPLES_BEFORE = 200;

interface MeasuredLogins {
  readonly logins: number;
  readonly statuses: Readonly<Record<string, number>>;
  readonly seconds: number;
  /** Times of the other calls in milliseconds: before and during the sign-ins. */
  readonly quiet: readonly number[];
  readonly meanwhile: readonly number[];
  /** PSS of the process before, and its maximum. */
  readonly bytesBefore: number;
  readonly bytesMost: number;
}

export async function measureLogins(options: BenchOptions): Promise<MeasuredLogins> {
  const databaseUrl = await preparedDatabase();
  const [port, metricsPort] = [await freePort(), await freePort()];
  const key = generateKey();
  const program = runProgram(fleetCommand('src/api/main.ts'), {
    cpu: options.serverCpu,
    cwd: ROOT,
    env: {
      DATABASE_URL: databaseUrl,
      API_LISTEN: `127.0.0.1:${port}`,
      METRICS_LISTEN: `127.0.0.1:${metricsPort}`,
      API_RATE: 'off',
      API_CONNECTIONS_PER_ADDRESS: 'off',
      TRUSTED_PROXIES: '127.0.0.1/32',
      BOOTSTRAP_API_KEY: key,
      RUN_AS: 'off',
      LOG_LEVEL: 'error',
    },
  });
  const url = `http://127.0.0.1:${port}`;
  const other = () => fetch(`${url}/domains/ns-sets`, { headers: { authorization: `Bearer ${key}` } });
  try {
    const deadline = performance.now() + READY_MS;
    while ((await other().catch(() => undefined))?.status !== 200) {
      if (performance.now() > deadline) throw new Error(`the API is not ready: ${program.output()}`);
      await pause(50);
    }
    const quiet: number[] = [];
    for (let i = 0; i < SAMPLES_BEFORE; i++) quiet.push(await timed(other));
    const bytesBefore = pssBytes(program.pid);
    let bytesMost = bytesBefore;
    const meanwhile: number[] = [];
    let isOver = false;
    const watch = (async () => {
      while (!isOver) {
        meanwhile.push(await timed(other));
        bytesMost = Math.max(bytesMost, pssBytes(program.pid));
      }
    })();
    const burst = ['src/start/run.mjs', 'bench/logins/burst.ts', url, String(LOGINS)];
    const told = await runToEnd([process.execPath, ...burst], {
      cpu: options.loadCpu,
      cwd: ROOT,
      timeoutMs: BURST_MS,
    });
    isOver = true;
    await watch;
    const { statuses, seconds } = JSON.parse(told) as { statuses: Record<string, number>; seconds: number };
    return { logins: LOGINS, statuses, seconds, quiet, meanwhile, bytesBefore, bytesMost };
  } finally {
    await program.stop();
  }
}

async function preparedDatabase(): Promise<string> {
  const cluster = await benchCluster();
  return cluster.database('zonefleet_logins', async (url) => {
    const db = openDatabase(url);
    try {
      await migrate(db, BENCH_SETTINGS);
      for (let i = 0; i < 10; i++) await createAccount(db, { email: `person${i}@logins.test` });
    } finally {
      await db.destroy();
    }
  });
}

async function timed(call: () => Promise<Response>): Promise<number> {
  const startedMs = performance.now();
  await (await call()).arrayBuffer();
  return performance.now() - startedMs;
}
