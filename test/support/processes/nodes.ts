// Nameserver processes as an operator runs them, on free ports of the loopback interface.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from '../tests/until.ts';
import { freePort } from './free-port.ts';

export interface NodeProcess {
  readonly name: string;
  readonly address: { address: string; port: number };
  readonly metricsUrl: string;
  readonly child: ChildProcess;
  /** What it has logged so far. */
  log(): string;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

const MAIN = fileURLToPath(new URL('../../../src/nameserver/main.ts', import.meta.url));

const READY_TIMEOUT_MS = 120_000;

/** Resolves when the node is ready. Without a DATA_DIR of the test's it has one that is gone when it has stopped. */
export async function startNode(name: string, env: Record<string, string>): Promise<NodeProcess> {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'zonefleet-node-'));
  const [port, metricsPort] = [await freePort(), await freePort()];
  const child = spawn(process.execPath, ['--import', 'tsx', MAIN], {
    env: {
      PATH: process.env.PATH,
      RUN_AS: 'off', // root owns the files of tests
      NODE_NAME: name,
      DNS_LISTEN: `127.0.0.1:${port}`,
      METRICS_LISTEN: `127.0.0.1:${metricsPort}`,
      DATA_DIR: dataDirectory,
      DNS_THREADS: '1', // a test has several nodes, the machine may have two cores
      IMAGE_BYTES: '256M',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      log += text;
    });
  }
  const metricsUrl = `http://127.0.0.1:${metricsPort}`;
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit');
      child.kill(signal);
      await ended;
    }
    rmSync(dataDirectory, { recursive: true, force: true });
  };
  try {
    const isReady = async () => {
      if (child.exitCode !== null) throw new Error(`${name} ended: ${log}`);
      const response = await fetch(`${metricsUrl}/readyz`).catch(() => undefined);
      await response?.body?.cancel();
      return response?.ok;
    };
    await until(isReady, `${name} is ready`, READY_TIMEOUT_MS);
  } catch (error) {
    await stop('SIGKILL');
    throw error;
  }
  return { name, address: { address: '127.0.0.1', port }, metricsUrl, child, log: () => log, stop };
}
