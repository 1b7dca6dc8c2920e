// A program that the benchmark runs: pinned to a core, with stored output, and ended with the benchmark.

import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { NODE_ENVIRONMENT, NODE_FLAGS } from '../src/start/node-flags.ts';
import { onEnd } from './cleanup.ts';

export interface ProgramOptions {
  readonly cpu?: number | undefined;
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** True if it has a channel for messages. */
  readonly ipc?: boolean;
  /** Standard output goes to this file instead of `output`. */
  readonly outputFile?: string;
}

export interface Program {
  readonly pid: number;
  readonly child: ChildProcess;
  /** Its output on both streams: the last 64 Ki characters. */
  output(): string;
  /** The exit code, or the signal. */
  readonly ended: Promise<number | string>;
  stop(): Promise<void>;
}

const KEPT_CHARACTERS = 64 * 1024;
const LAST_WORDS_MS = 500;
const STOP_TIMEOUT_MS = 20_000; // a node with a million zones may be writing its snapshot

export const PROGRAM_PATH = `${process.env.PATH ?? ''}:/usr/sbin:/usr/local/sbin:/sbin`;

/** Returns the command of a process of the fleet, from its source file. Its working directory must be the root of a checkout. */
export function fleetCommand(main: string, moreFlags: readonly string[] = []): string[] {
  const variables = Object.entries(NODE_ENVIRONMENT).map(([name, value]) => `${name}=${value}`);
  return ['env', ...variables, process.execPath, ...NODE_FLAGS, ...moreFlags, 'src/start/run.mjs', main];
}

export function runProgram(command: readonly string[], options: ProgramOptions = {}): Program {
  // The kernel kills the child when this process is killed.
  const bound = ['setpriv', '--pdeathsig', 'TERM', ...command];
  const pinned = options.cpu === undefined ? bound : ['taskset', '-c', String(options.cpu), ...bound];
  const file = options.outputFile === undefined ? undefined : openSync(options.outputFile, 'a');
  const child = spawn(pinned[0] as string, pinned.slice(1), {
    env: { ...(options.env ?? process.env), PATH: PROGRAM_PATH },
    cwd: options.cwd,
    stdio: ['ignore', file ?? 'pipe', 'pipe', ...(options.ipc ? (['ipc'] as const) : [])],
  });
  if (file !== undefined) closeSync(file);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-KEPT_CHARACTERS);
    });
  }
  const ended = new Promise<number | string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    const end = (code: number | null, signal: NodeJS.Signals | null) => resolve(code ?? signal ?? 'unknown');
    child.once('close', end);
    // A surviving grandchild may hold the streams open; the last output arrives within this time.
    child.once('exit', (code, signal) => setTimeout(end, LAST_WORDS_MS, code, signal));
  });
  const stop = onEnd(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    const killer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await ended;
    clearTimeout(killer);
  });
  void ended.then(stop);
  return { pid: child.pid ?? 0, child, output: () => said, ended, stop };
}

/** Runs the program to its end. Throws with its output if it fails or takes longer than `timeoutMs`. */
export async function runToEnd(
  command: readonly string[],
  options: ProgramOptions & { timeoutMs: number },
): Promise<string> {
  const program = runProgram(command, options);
  const timer = setTimeout(() => program.child.kill('SIGKILL'), options.timeoutMs);
  const code = await program.ended;
  clearTimeout(timer);
  if (code !== 0) throw new Error(`${command[0]} ended with ${code}: ${program.output().slice(-2000)}`);
  return program.output();
}
