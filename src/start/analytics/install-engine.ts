// Installs the engine's package (chdb) separately from all others, once per version of its lock file, completely
// or not at all.

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
import { join } from 'node:path';
import { runNpm } from '../npm/run-npm.ts';

/** Size of the installed package, for people. docs/operating/edges.md has it too. */
export const ENGINE_SIZE = '548 MiB';

const FILES = ['package.json', 'package-lock.json'];
// Not `npm ci`: the lock file does not list the engine for some platforms (`lackOfHash`), so npm adds it.
const NPM_INSTALL = [
  'install',
  '--no-save',
  '--no-audit',
  '--no-fund',
  '--ignore-scripts',
  '--omit=dev',
  '--include=optional',
];
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

/** Returns the location of the package for the repository `root`, or undefined if it is not installed. */
export function installedEngine(root: string, places: readonly string[]): string | undefined {
  return places.map((place) => join(place, versionOf(root))).find(existsSync);
}

/** Returns a warning if the lock file has no hash for this platform's engine, otherwise undefined. */
export function lackOfHash(root: string, { platform, arch }: Platform = process): string | undefined {
  const { packages } = JSON.parse(readFileSync(join(sourceOf(root), 'package-lock.json'), 'utf8')) as Lock;
  const has = Object.values(packages).some(
    ({ os, cpu, integrity }) =>
      os?.includes(platform) === true && cpu?.includes(arch) === true && integrity !== undefined,
  );
  return has
    ? undefined
    : `the lock file of the analytics engine has no hash for ${platform} ${arch}, so npm installs the package without verifying it`;
}

/** Installs the package into the first writable directory of `places`. Rejects with the last lines of npm's output. */
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
    await runNpm(NPM_INSTALL, { directory: part, signal, env });
    if (!existsSync(join(part, 'node_modules/chdb/package.json')))
      throw new Error('npm did not install chdb');
    try {
      renameSync(part, wanted);
    } catch (error) {
      if (!existsSync(wanted)) throw error; // otherwise another process was faster
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

/** Removes the remains of interrupted installations. */
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
