// Copies of the code in separate directories, as installations have it: this version, or the one of a commit. Programs run
// from them as an operator runs them.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CliRun } from '../cli/run-cli.ts';
import { ROOT } from '../tests/sources.ts';
import { type Program, programOf } from './program.ts';

const PARTS = ['package.json', 'package-lock.json', 'tsconfig.json', 'src', 'workers'];

/** Writes the code of the commit, or of the working tree, with its packages. */
export function installCode(directory: string, commit?: string): void {
  mkdirSync(directory, { recursive: true });
  if (commit === undefined) {
    execFileSync('cp', ['-a', ...PARTS, directory], { cwd: ROOT });
  } else {
    const archive = execFileSync('git', ['archive', commit, ...PARTS], {
      cwd: ROOT,
      maxBuffer: 256 * 1024 * 1024,
    });
    execFileSync('tar', ['-x', '-C', directory], { input: archive });
  }
  linkPackages(directory);
}

/** Links the production packages: no registry, no time. If the lock file requires others, the first program installs them. */
function linkPackages(directory: string): void {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { readonly dev?: true }>;
  };
  const wanted = Object.entries(packages).filter(
    ([path, { dev }]) =>
      /^node_modules\/(@[^/]+\/)?[^/]+$/.test(path) && dev !== true && existsSync(join(ROOT, path)),
  );
  const paths = ['node_modules/.package-lock.json', ...wanted.map(([path]) => path)];
  execFileSync('cp', ['-al', '--parents', ...paths, directory], { cwd: ROOT });
}

/** `program` is relative to the directory. */
export function startInstalled(
  directory: string,
  program: string,
  env: Readonly<Record<string, string>>,
): Program {
  return programOf(
    spawn(process.execPath, [join(directory, 'src/start/run.mjs'), program], {
      cwd: directory,
      env: { PATH: process.env.PATH, RUN_AS: 'off', LOG_LEVEL: 'warn', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
}

/** Runs `zonefleet …` of the installed version. */
export async function runInstalled(
  directory: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<CliRun> {
  const child = spawn(process.execPath, [join(directory, 'src/cli/zonefleet.mjs'), ...args], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const run: CliRun = { code: null, stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    run.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    run.stderr += text;
  });
  [run.code] = await once(child, 'close');
  return run;
}
