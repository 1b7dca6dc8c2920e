// Nameserver processes as an operator runs them, on free ports of the loopback interface.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { type Program, startProgram, untilReady } from './program.ts';

export interface NodeProcess extends Program {
  readonly name: string;
  readonly address: { address: string; port: number };
  readonly metricsUrl: string;
}

/** Resolves when the node is ready. Its data directory is removed when it stops, unless `env` specifies one. */
export async function startNode(name: string, env: Record<string, string>): Promise<NodeProcess> {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'zonefleet-node-'));
  const [port, metricsPort] = [await freePort(), await freePort()];
  const program = startProgram('../../../src/nameserver/main.ts', {
    NODE_NAME: name,
    DNS_LISTEN: `127.0.0.1:${port}`,
    METRICS_LISTEN: `127.0.0.1:${metricsPort}`,
    DATA_DIR: dataDirectory,
    DNS_THREADS: '1', // a test has several nodes, and the machine may have two cores
    IMAGE_BYTES: '256M',
    ...env,
  });
  const metricsUrl = `http://127.0.0.1:${metricsPort}`;
  const stop = async (signal?: NodeJS.Signals) => {
    await program.stop(signal);
    rmSync(dataDirectory, { recursive: true, force: true });
  };
  await untilReady({ ...program, stop }, name, async () => {
    const response = await fetch(`${metricsUrl}/readyz`).catch(() => undefined);
    await response?.body?.cancel();
    return response?.ok;
  });
  return { ...program, name, address: { address: '127.0.0.1', port }, metricsUrl, stop };
}
