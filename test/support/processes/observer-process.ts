// An observer as an operator runs it, in a network of its own.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { SmallNetwork } from '../vantage/small-network.ts';

export interface ObserverProcess {
  readonly child: ChildProcess;
  log(): string;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

const MAIN = fileURLToPath(new URL('../../../workers/observer/main.ts', import.meta.url));

/** `metrics`: an address of the network, for more than one in it. */
export function startObserver(
  network: SmallNetwork,
  vantage: string,
  key: string,
  metrics = '127.0.0.1:9153',
): ObserverProcess {
  const { command, args } = network.within(process.execPath);
  const child = spawn(command, [...args, '--import', 'tsx', MAIN], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      RUN_AS: 'off', // root owns the files of tests
      VANTAGE: vantage,
      VANTAGE_KEY: key,
      VANTAGE_API: network.apiUrl,
      LOG_LEVEL: 'debug',
      METRICS_LISTEN: metrics,
      ...network.settings,
    },
  });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      log += text;
    });
  }
  return {
    child,
    log: () => log,
    async stop(signal = 'SIGTERM') {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill(signal);
      await ended;
    },
  };
}
