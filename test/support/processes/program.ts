// A program of Zonefleet in a separate process, as an operator runs it.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { NetworkNamespace } from '../network/namespace.ts';
import { until } from '../tests/until.ts';

export interface Program {
  readonly child: ChildProcess;
  log(): string;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

const TSX = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;

/**
 * `main` is relative to this directory. With `hasChannel`, the process can exchange messages with its child. `within`
 * provides the command that starts it.
 */
export function startProgram(
  main: string | URL,
  env: Readonly<Record<string, string>>,
  { hasChannel = false, within }: { hasChannel?: boolean; within?: Pick<NetworkNamespace, 'command'> } = {},
): Program {
  const file = fileURLToPath(new URL(main, import.meta.url));
  const command = [process.execPath, '--import', TSX, file];
  const [program = '', ...args] = within === undefined ? command : within.command(...command);
  return programOf(
    spawn(program, args, {
      env: { PATH: process.env.PATH, RUN_AS: 'off', ...env }, // root owns the files of tests
      stdio: ['ignore', 'pipe', 'pipe', ...(hasChannel ? (['ipc'] as const) : [])],
    }),
  );
}

/** Collects the output of a child process as its log. */
export function programOf(child: ChildProcess): Program {
  let log = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      log += text;
    });
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

/** Kills the program if it does not become ready. */
export async function untilReady(
  { child, log, stop }: Program,
  name: string,
  isReady: () => boolean | undefined | Promise<boolean | undefined>,
): Promise<void> {
  try {
    await until(() => {
      if (child.exitCode !== null) throw new Error(`${name} ended: ${log()}`);
      return isReady();
    }, `${name} is ready`);
  } catch (error) {
    await stop('SIGKILL');
    throw error;
  }
}
