// A workers process as an operator runs it (`zonefleet run workers`), in the small internet if it has
// parents.

import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../test/support/processes/free-port.ts';
import type { BenchOptions } from '../part.ts';
import { fleetCommand, runProgram } from '../program.ts';
import { PARENT_NETWORK } from './parents.ts';
import type { Parents } from './start-parents.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const READY_MS = 60_000;

export interface Worker {
  readonly pid: number;
  /** Packets that it has sent since its start. */
  packets(): Promise<number>;
  stop(): Promise<void>;
}

export async function startWorker(
  {
    databaseUrl,
    redisUrl,
    parents,
  }: { databaseUrl: string; redisUrl?: string | undefined; parents?: Parents },
  options: BenchOptions,
): Promise<Worker> {
  const metricsPort = await freePort();
  const program = runProgram(fleetCommand('workers/main.ts'), {
    cpu: options.serverCpu,
    cwd: ROOT,
    env: {
      DATABASE_URL: databaseUrl,
      ...(redisUrl !== undefined && { REDIS_URL: redisUrl }),
      ...(parents && {
        ROOT_HINTS: parents.hintsFile,
        DNS_PORT_OUT: String(parents.port),
        RESOLVER_ALLOW: PARENT_NETWORK,
      }),
      METRICS_LISTEN: `127.0.0.1:${metricsPort}`,
      RUN_AS: 'off', // like the other servers
      LOG_LEVEL: 'warn',
    },
  });
  let ended: number | string | undefined;
  void program.ended.then((code) => {
    ended = code;
  });
  const ask = (path: string) => fetch(`http://127.0.0.1:${metricsPort}${path}`);
  const deadline = performance.now() + READY_MS;
  while (!(await ask('/readyz').catch(() => undefined))?.ok) {
    if (ended !== undefined || performance.now() > deadline) {
      await program.stop();
      throw new Error(`the worker is not ready: ${ended ?? ''}\n${program.output()}`);
    }
    await pause(50);
  }
  return {
    pid: program.pid,
    async packets() {
      const text = await (await ask('/metrics')).text();
      return Number(/^zonefleet_resolver_packets_total\{kind="sent"\} (\S+)$/m.exec(text)?.[1]);
    },
    stop: program.stop,
  };
}
