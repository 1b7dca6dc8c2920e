// Measures how a thousand users of `/check/NAME` delay the checks of customers' domains.

import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { generateKey } from '../../src/store/accounts/api-keys.ts';
import { runZonefleetApi } from '../api/zonefleet-api.ts';
import type { BenchOptions } from '../part.ts';
import { pinCluster } from '../postgres/cluster.ts';
import { cpuSeconds } from '../process-tree.ts';
import { type Program, runProgram } from '../program.ts';
import { say } from '../say.ts';
import { domainDatabase, parentedDomains } from './domain-set.ts';
import { measureRound } from './measure-round.ts';
import { PARENT_NETWORK } from './parents.ts';
import type { Parents } from './start-parents.ts';
import { startWorker } from './worker.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const DOMAINS = 10_000;
/** Time in which each of a thousand users sends its first request. */
const BEGIN_MS = 7000;

export interface MeasuredAskers {
  readonly domains: number;
  /** Checks of customers' domains per second, alternately without and with users. */
  readonly without: readonly number[];
  readonly beside: readonly number[];
  /** Number of responses by status, and the duration in seconds. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly seconds: number;
  /** CPU milliseconds of the API per request. */
  readonly cpuMillis: number;
}

export async function measureAskers(parents: Parents, options: BenchOptions): Promise<MeasuredAskers> {
  const domains = Math.min(options.zones ?? DOMAINS, DOMAINS);
  const databaseUrl = await domainDatabase(parentedDomains(domains));
  const unpin = await pinCluster(options.loadCpu);
  const worker = await startWorker({ databaseUrl, redisUrl: undefined, parents }, options);
  const checked = { databaseUrl, worker, redis: undefined };
  const [without, beside]: [number[], number[]] = [[], []];
  const statuses: Record<string, number> = {};
  let [seconds, cpu, asks] = [0, 0, 0];
  try {
    // On the core of Postgres and of the small internet.
    const api = await runZonefleetApi({
      databaseUrl,
      key: generateKey(),
      cpu: options.loadCpu,
      env: {
        PUBLIC_CHECK: 'on',
        CONSOLE: 'off',
        ROOT_HINTS: parents.hintsFile,
        DNS_PORT_OUT: String(parents.port),
        RESOLVER_ALLOW: PARENT_NETWORK,
        API_CONNECTIONS_PER_ADDRESS: 'off',
        TRUSTED_PROXIES: '127.0.0.1/32',
      },
    });
    try {
      await measureRound(checked, domains); // warm up: each domain now has a run, which later rounds repeat
      for (let round = 1; round <= options.rounds; round++) {
        without.push(domains / (await measureRound(checked, domains)).seconds);
        const [startedMs, cpuBefore] = [performance.now(), cpuSeconds(api.program.pid)];
        const askers = runProgram(
          [process.execPath, 'src/start/run.mjs', 'bench/checks/askers.ts', api.base],
          { cpu: options.loadCpu, cwd: ROOT },
        );
        try {
          await pause(BEGIN_MS);
          beside.push(domains / (await measureRound(checked, domains)).seconds);
        } finally {
          await askers.stop();
        }
        for (const [status, times] of Object.entries(told(askers))) {
          statuses[status] = (statuses[status] ?? 0) + times;
          asks += times;
        }
        seconds += (performance.now() - startedMs) / 1000;
        cpu += cpuSeconds(api.program.pid) - cpuBefore;
        say(
          `  round ${round} of ${options.rounds}: ${Math.round(without.at(-1) ?? 0)} checks/s, ${Math.round(beside.at(-1) ?? 0)} with users`,
        );
      }
    } finally {
      await api.program.stop();
    }
  } finally {
    await worker.stop();
    await unpin();
  }
  return { domains, without, beside, statuses, seconds, cpuMillis: (cpu * 1000) / asks };
}

function told(askers: Program): Record<string, number> {
  const text = askers.output();
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`the process of the users ended with: ${text}`);
  }
}
