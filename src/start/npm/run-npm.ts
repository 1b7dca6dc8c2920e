// Runs npm for background work, with this Node's npm and the lowest priority.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { setPriority } from 'node:os';
import { dirname, join } from 'node:path';

const MOST_WORDS = 64 * 1024;
const LOWEST_PRIORITY = 10;

interface NpmRun {
  readonly directory: string;
  readonly signal: AbortSignal;
  readonly env: NodeJS.ProcessEnv;
}

/** Rejects with npm's reason. */
export async function runNpm(words: readonly string[], { directory, signal, env }: NpmRun): Promise<void> {
  const beside = join(dirname(process.execPath), '../lib/node_modules/npm/bin/npm-cli.js');
  const [command, first] = existsSync(beside) ? [process.execPath, [beside]] : ['npm', []];
  const npm = spawn(command, [...first, ...words], {
    cwd: directory,
    env,
    signal,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  if (npm.pid !== undefined) lower(npm.pid);
  const { code, told } = await endOf(npm);
  if (code !== 0) throw new Error(`npm ${words[0]} failed: ${reasonIn(told)}`);
}

/** Returns npm's error code and the next lines. The rest is advice. */
function reasonIn(told: string): string {
  const lines = told.split('\n').flatMap((line) => /^npm error (\S.*)$/.exec(line)?.[1] ?? []);
  return lines.slice(0, 3).join(' ') || told.trim().slice(0, 200);
}

function lower(pid: number): void {
  try {
    setPriority(pid, LOWEST_PRIORITY);
  } catch {
    // it has already ended
  }
}

function endOf(npm: ChildProcess): Promise<{ code: number | null; told: string }> {
  let told = '';
  npm.stderr?.setEncoding('utf8').on('data', (text: string) => {
    if (told.length < MOST_WORDS) told += text;
  });
  return new Promise((done) => {
    npm.on('error', ({ message }) => done({ code: null, told: message }));
    npm.on('close', (code) => done({ code, told }));
  });
}
