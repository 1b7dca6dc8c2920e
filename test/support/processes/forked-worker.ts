// A workers process, forked with its own environment, and a root server that refuses every query.

import type { ChildProcess } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { freePort } from './free-port.ts';
import { startProgram } from './program.ts';

export interface ForkedWorker {
  readonly process: ChildProcess;
  readonly metrics: string;
  readonly told: { readonly kind: string; readonly reason?: string }[];
  readonly exited: Promise<number | null>;
  log(): string;
}

/** Returns the status of a response, or 0 while the server cannot be reached. */
export const statusOf = (url: string) =>
  fetch(url).then(
    ({ status }) => status,
    () => 0,
  );

/** Returns a function that starts the program. The processes end after each test. */
export function forkedWorkers(program: URL): (env: Record<string, string>) => Promise<ForkedWorker> {
  let directory: string;
  let root: ReturnType<typeof createSocket>;
  const processes: ChildProcess[] = [];
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'zonefleet-workers-'));
    const hints = '. 3600000 NS A.ROOT.TEST.\nA.ROOT.TEST. 3600000 A 127.0.0.1\n';
    writeFileSync(join(directory, 'root.hints'), hints);
    root = createSocket('udp4');
    root.on('message', (query, from) => {
      query[2] = 0x80; // QR
      query[3] = 5; // REFUSED
      root.send(query, from.port, from.address);
    });
    await new Promise<void>((done) => root.bind(0, '127.0.0.1', done));
  });
  afterEach(() => {
    for (const child of processes.splice(0)) child.kill('SIGKILL');
  });
  afterAll(() => {
    root?.close();
    rmSync(directory, { recursive: true, force: true });
  });

  return async (env) => {
    const metricsPort = await freePort();
    const { child, log } = startProgram(
      program,
      {
        DATA_DIR: '/nonexistent/zonefleet',
        METRICS_LISTEN: `127.0.0.1:${metricsPort}`,
        ROOT_HINTS: join(directory, 'root.hints'),
        DNS_PORT_OUT: String(root.address().port),
        RESOLVER_ALLOW: '127.0.0.0/8',
        ...env,
      },
      { hasChannel: true },
    );
    processes.push(child);
    const told: ForkedWorker['told'] = [];
    child.on('message', (message) => told.push(message as ForkedWorker['told'][number]));
    const exited = once(child, 'exit').then(([code]) => code as number | null);
    return { process: child, metrics: `http://127.0.0.1:${metricsPort}`, told, exited, log };
  };
}
