// The workers as an operator runs them, in a process of their own.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { openRole } from '../database/database.ts';
import { until } from '../tests/until.ts';
import { freePort } from './free-port.ts';

export interface WorkersProcess {
  readonly child: ChildProcess;
  log(): string;
  /** The value of a line of its metrics, undefined where there is none. */
  metric(line: string): Promise<number | undefined>;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

const MAIN = fileURLToPath(new URL('../../../workers/main.ts', import.meta.url));
const TSX = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
const READY_TIMEOUT_MS = 120_000;

/** Resolves when they are ready. `within`: how a program is started in a network of its own. */
export async function startWorkers(
  databaseUrl: string,
  env: Readonly<Record<string, string>>,
  within?: (program: string) => { readonly command: string; readonly args: readonly string[] },
): Promise<WorkersProcess> {
  const metricsPort = await freePort();
  const roleUrl = await openRole(databaseUrl, 'zonefleet_worker');
  const { command, args } = within?.(process.execPath) ?? { command: process.execPath, args: [] };
  const child = fork(MAIN, [], {
    execPath: command,
    execArgv: [...args, '--import', TSX],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: {
      PATH: process.env.PATH,
      RUN_AS: 'off', // root owns the files of tests
      DATABASE_URL: roleUrl,
      METRICS_LISTEN: `127.0.0.1:${metricsPort}`,
      ...env,
    },
  });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      log += text;
    });
  }
  let isReady = false;
  child.on('message', (message: { kind: string }) => {
    if (message.kind === 'ready') isReady = true;
  });
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  };
  try {
    await until(
      () => {
        if (child.exitCode !== null) throw new Error(`the workers ended: ${log}`);
        return isReady;
      },
      'the workers are ready',
      READY_TIMEOUT_MS,
    );
  } catch (error) {
    await stop('SIGKILL');
    throw error;
  }
  return {
    child,
    log: () => log,
    async metric(line) {
      const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
      const found = text.split('\n').find((each) => each.startsWith(`${line} `));
      return found === undefined ? undefined : Number(found.slice(line.length + 1));
    },
    stop,
  };
}
