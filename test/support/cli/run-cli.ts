// Runs the command line in a separate process like an operator, without settings from our environment.

import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface CliRun {
  code: number | null;
  stdout: string;
  stderr: string;
}

interface CliSurroundings {
  databaseUrl?: string;
  dataDirectory?: string;
  env?: Record<string, string>;
  input?: string;
  cwd?: string;
  /** Called with new output. A returned signal is sent to the process. */
  onOutput?: (stdout: string) => NodeJS.Signals | undefined;
}

export const CLI = fileURLToPath(new URL('../../../src/cli/zonefleet.mjs', import.meta.url));

export function runCli(args: readonly string[], surroundings: CliSurroundings = {}): Promise<CliRun> {
  const { databaseUrl, dataDirectory, env, input, cwd, onOutput } = surroundings;
  const child = spawn(process.execPath, [CLI, ...args], {
    cwd,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      DATA_DIR: dataDirectory ?? '/nonexistent/zonefleet',
      ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
      ...env,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: 120_000,
    killSignal: 'SIGKILL',
  });
  const run: CliRun = { code: null, stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    run.stdout += text;
    const signal = onOutput?.(run.stdout);
    if (signal !== undefined) child.kill(signal);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    run.stderr += text;
  });
  child.stdin.on('error', () => {}); // the command may not read its input
  child.stdin.end(input ?? '');
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ ...run, code }));
  });
}
