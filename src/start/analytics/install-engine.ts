// Installs the engine's package (chdb, 548 MiB) apart from all others: once for each version of its lock, whole or not at all.

import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  accessSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { setPriority } from 'node:os';
import { dirname, join } from 'node:path';

const FILES = ['package.json', 'package-lock.json'];
const MOST_WORDS = 64 * 1024;
const PART = /\.part-(\d+)$/;

interface Platform {
  readonly platform: string;
  readonly arch: string;
}

interface Lock {
  readonly packages: Readonly<
    Record<string, { readonly os?: string[]; readonly cpu?: string[]; readonly integrity?: string }>
  >;
}

/** Where the package is, for `root` of the repository; undefined: not installed. */
export function installedEngine(root: string, places: readonly string[]): string | undefined {
  return places.map((place) => join(place, versionOf(root))).find(existsSync);
}

/** Said before it is installed where the lock has no hash of this platform's engine; undefined: it has. */
export function lackOfHash(root: string, { platform, arch }: Platform = process): string | undefined {
  const { packages } = JSON.parse(readFileSync(join(sourceOf(root), 'package-lock.json'), 'utf8')) as Lock;
  const has = Object.values(packages).some(
    ({ os, cpu, integrity }) =>
      os?.includes(platform) === true && cpu?.includes(arch) === true && integrity !== undefined,
  );
  return has
    ? undefined
    : `the lock of the analytics engine has no hash for ${platform} ${arch}: npm takes its version as the registry gives it`;
}

/** Installs it into the first of `places` that can be written. Rejects with npm's last words. */
export async function installEngine(
  root: string,
  places: readonly string[],
  signal: AbortSignal,
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const place = places.find(isWritable);
  if (place === undefined) throw new Error(`cannot write to ${places.join(' or ')}`);
  const wanted = join(place, versionOf(root));
  clear(place);
  const part = `${wanted}.part-${process.pid}`;
  mkdirSync(part, { mode: 0o755 });
  try {
    for (const file of FILES) copyFileSync(join(sourceOf(root), file), join(part, file));
    await runNpm(part, signal, env);
    if (!existsSync(join(part, 'node_modules/chdb/package.json'))) throw new Error('npm installed no chdb');
    try {
      renameSync(part, wanted);
    } catch (error) {
      if (!existsSync(wanted)) throw error; // else another process was faster
    }
    return wanted;
  } finally {
    rmSync(part, { recursive: true, force: true });
  }
}

function sourceOf(root: string): string {
  return join(root, 'src/start/analytics');
}

function versionOf(root: string): string {
  const lock = readFileSync(join(sourceOf(root), 'package-lock.json'));
  return createHash('sha256').update(lock).digest('hex').slice(0, 16);
}

function isWritable(place: string): boolean {
  try {
    mkdirSync(place, { recursive: true, mode: 0o755 });
    accessSync(place, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Removes what installs have left that were cut off. */
function clear(place: string): void {
  for (const name of readdirSync(place)) {
    const pid = Number(PART.exec(name)?.[1] ?? 0);
    if (pid > 0 && pid !== process.pid && !isAlive(pid))
      rmSync(join(place, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** With the npm of this Node, below everything else that the machine has to do. */
async function runNpm(directory: string, signal: AbortSignal, env: NodeJS.ProcessEnv): Promise<void> {
  const beside = join(dirname(process.execPath), '../lib/node_modules/npm/bin/npm-cli.js');
  const [command, first] = existsSync(beside) ? [process.execPath, [beside]] : ['npm', []];
  // Not `npm ci`: the lock names no engine of some platforms (`lackOfHash`), and npm adds it.
  const words = [
    'install',
    '--no-save',
    '--no-audit',
    '--no-fund',
    '--ignore-scripts',
    '--omit=dev',
    '--include=optional',
  ];
  const npm = spawn(command, [...first, ...words], {
    cwd: directory,
    env,
    signal,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  if (npm.pid !== undefined) lower(npm.pid);
  const { code, told } = await endOf(npm);
  if (code !== 0) throw new Error(`npm could not install it: ${reasonIn(told)}`);
}

/** Its code and the line after; what follows is advice. */
function reasonIn(told: string): string {
  const lines = told.split('\n').flatMap((line) => /^npm error (\S.*)$/.exec(line)?.[1] ?? []);
  return lines.slice(0, 3).join(' ') || told.trim().slice(0, 200);
}

function lower(pid: number): void {
  try {
    setPriority(pid, 10);
  } catch {
    // it has ended already
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
