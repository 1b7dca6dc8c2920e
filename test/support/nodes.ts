// Nameserver processes as an operator runs them, on free ports of the loopback interface.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { until } from './until.ts';

export interface NodeProcess {
  readonly name: string;
  readonly address: { address: string; port: number };
  readonly metricsUrl: string;
  readonly child: ChildProcess;
  /** What it has logged so far. */
  log(): string;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

const MAIN = fileURLToPath(new URL('../../src/nameserver/main.ts', import.meta.url));

/** Resolves when the node is ready. */
export async function startNode(name: string, env: Record<string, string>): Promise<NodeProcess> {
  const [port, metricsPort] = [await freePort(), await freePort()];
  const child = spawn(process.execPath, ['--import', 'tsx', MAIN], {
    env: {
      PATH: process.env.PATH,
      NODE_NAME: name,
      DNS_LISTEN: `127.0.0.1:${port}`,
      METRICS_LISTEN: `127.0.0.1:${metricsPort}`,
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
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  };
  try {
    await until(async () => {
      if (child.exitCode !== null) throw new Error(`${name} ended: ${log}`);
      const response = await fetch(`${metricsUrl}/readyz`).catch(() => undefined);
      await response?.body?.cancel();
      return response?.ok;
    }, `${name} is ready`);
  } catch (error) {
    await stop('SIGKILL');
    throw error;
  }
  return { name, address: { address: '127.0.0.1', port }, metricsUrl, child, log: () => log, stop };
}

/** A port that nobody held a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
