// Finds the compiled form of a program without reading its sources, which takes longer than a command of the CLI. A stamp next
// to the compiled versions records the size, times and inode of each file that the program was compiled from.

import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

/** Folder of the compiled programs in a package, which does not contain the sources. */
export const PACKAGED = 'compiled';
/** A change within this time after another one may leave the same times. */
const SETTLED_MS = 2000;
/** Maximum age of a stamp. A start without one records that the compiled version is in use. */
const RENEWED_MS = 86_400_000;
/** If these are unchanged, no package was installed or is missing. */
const OF_PACKAGES = ['package-lock.json', 'node_modules/.package-lock.json', 'package.json', 'tsconfig.json'];
const MAY_BE_ABSENT = { throwIfNoEntry: false };
const ABSENT = { size: -1, ino: 0, mtimeMs: 0, ctimeMs: 0 };

/**
 * Returns the compiled program if no source, lock file or record of installed packages has changed since its stamp was
 * written. New files do not matter: only a changed file can import them.
 */
export function findCompiled(root, path, dataDirectory) {
  const program = relative(root, resolve(root, path));
  if (isPackage(root)) return fileOf(root, PACKAGED, program);
  for (const place of placesOf(root, dataDirectory)) {
    const stamp = readStamp(place, { root, program });
    if (stamp === undefined || !isCompiled(place, stamp.name, program)) continue;
    if (stamp.files.every((file) => isUnchanged(root, file))) return fileOf(place, stamp.name, program);
  }
  return undefined;
}

export function isPackage(root) {
  return existsSync(join(root, PACKAGED));
}

export function placesOf(root, dataDirectory) {
  return [join(root, 'node_modules/.cache/zonefleet'), join(dataDirectory, 'compiled')];
}

export function fileOf(place, name, program) {
  return join(place, name, program.replace(/\.ts$/, '.mjs'));
}

export function isCompiled(place, name, program) {
  return isTrusted(join(place, name)) && existsSync(fileOf(place, name, program));
}

/** True if we or root own the directory and no other user may write to it: it contains code that we run. */
export function isTrusted(directory) {
  try {
    const { uid, mode } = statSync(directory);
    return process.getuid === undefined || ((uid === 0 || uid === process.getuid()) && (mode & 0o022) === 0);
  } catch {
    return false;
  }
}

/** Returns the status of sources and lock files. Must be called before they are read. */
export function statusOf(root, sources) {
  return new Map(
    [...OF_PACKAGES, ...sources].map((file) => {
      const { size, ino, mtimeMs, ctimeMs } = statSync(`${root}/${file}`, MAY_BE_ABSENT) ?? ABSENT;
      return [file, [size, ino, mtimeMs, ctimeMs]];
    }),
  );
}

/** Compares without allocating, because it runs for each source at each start. */
function isUnchanged(root, [file, size, ino, mtimeMs, ctimeMs]) {
  const now = statSync(`${root}/${file}`, MAY_BE_ABSENT) ?? ABSENT;
  return now.size === size && now.ino === ino && now.mtimeMs === mtimeMs && now.ctimeMs === ctimeMs;
}

/** Returns the path of the stamp for a program, a checkout and this version of Node.js. */
function stampIn(place, { root, program }) {
  const words = [process.version, program, root].map(encodeURIComponent).join('-');
  return join(place, `stamp-${words.slice(-200)}.json`);
}

function readStamp(place, of) {
  try {
    if (!isTrusted(place)) return undefined;
    const stamp = JSON.parse(readFileSync(stampIn(place, of), 'utf8'));
    const isRecent = Date.now() - stamp.at < RENEWED_MS;
    return stamp.root === of.root && stamp.program === of.program && isRecent ? stamp : undefined;
  } catch {
    return undefined;
  }
}

/** Writes the stamp, unless one of the sources has just changed or the directory is not writable. */
export function writeStamp(place, { root, program, name, sources, status }) {
  const file = stampIn(place, { root, program });
  const unfinished = `${file}.${process.pid}.unfinished`;
  try {
    if (!isTrusted(place)) return;
    const files = [...OF_PACKAGES, ...sources].map((source) => [source, ...status.get(source)]);
    writeFileSync(unfinished, JSON.stringify({ root, program, name, at: Date.now(), files }), {
      mode: 0o644,
    });
    const now = statSync(unfinished).mtimeMs; // by the clock of the file system
    const isSettled = ([, , , mtimeMs, ctimeMs]) => Math.max(mtimeMs, ctimeMs) < now - SETTLED_MS;
    if (files.every(isSettled)) renameSync(unfinished, file);
  } catch {
    // the next start reads the sources again
  } finally {
    rmSync(unfinished, { force: true });
  }
}
