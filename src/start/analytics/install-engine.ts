// Installs the engine's package (chdb, 548 MiB) apart from all others: once for each version of its lock, whole or not at all.

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

const FILES = ['package.json', 'package-lock.json'];
// Not `npm ci`: the lock names no engine of some platforms (`lackOfHash`), and npm adds it.
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
    await runNpm(NPM_INSTALL, { directory: part, signal, env });
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
