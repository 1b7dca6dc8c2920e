// Location of the processes' code. After dropping root, a process may be unable to read a checkout in root's home, but
// later threads still read code. In that case a copy is made in root's directory under /var/lib, once per version of the
// files.

import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { readBuild } from '../process/build.ts';
import { mayRead, type ProcessUser, ROOT_PLACE } from '../process/run-as.ts';
import { StartFault } from '../process/start-fault.ts';

const PARTS = ['package.json', 'package-lock.json', 'tsconfig.json', 'src', 'workers'];
/** One file of each kind. If these are readable, all are. */
const READ_LATER = [
  'package.json',
  'src/process/run-process.ts',
  'src/process/thread.mjs',
  'node_modules/koffi/package.json',
];
const LEFT_OUT = /^node_modules\/(\.bin|\.cache)\//;

/** Returns the root of the code that `user` can read: `root`, or a copy under `place`. */
export function placeProgram(root: string, user: ProcessUser | undefined, place = ROOT_PLACE): string {
  if (user === undefined || READ_LATER.every((file) => mayRead(join(root, file), user))) return root;
  mkdirSync(place, { recursive: true, mode: 0o755 });
  const { uid, mode } = statSync(place);
  if (uid !== 0 || (mode & 0o022) !== 0) {
    throw new StartFault(
      `${place} must belong to root and be writable only by root, because processes are started from it`,
    );
  }
  const installed = readFileSync(join(root, 'node_modules/.package-lock.json'));
  const packages = makeOnce(join(place, `packages-${digest([installed])}`), (part) =>
    copyPackages(root, part, JSON.parse(installed.toString()).packages),
  );
  const files = PARTS.flatMap((part) => filesOf(root, part));
  const stamps = files.map((file) => {
    const { size, mtimeMs } = statSync(join(root, file));
    return `${file} ${size} ${mtimeMs}\n`;
  });
  const build = JSON.stringify(readBuild(root)); // the copy has no .git
  return makeOnce(join(place, `program-${digest([root, packages, build, ...stamps])}`), (part) => {
    for (const name of PARTS) cpSync(join(root, name), join(part, name), { recursive: true });
    writeFileSync(join(part, 'build.json'), build);
    symlinkSync(join(packages, 'node_modules'), join(part, 'node_modules'));
  });
}

function copyPackages(root: string, part: string, packages: Record<string, { dev?: boolean }>): void {
  const isWanted = (path: string) => !LEFT_OUT.test(`${path}/`) && packages[path]?.dev !== true;
  cpSync(join(root, 'node_modules'), join(part, 'node_modules'), {
    recursive: true,
    verbatimSymlinks: true,
    filter: (from) => isWanted(from.slice(root.length + 1)),
  });
}

/** Creates the copy completely or not at all, readable by everyone regardless of the umask. */
function makeOnce(wanted: string, fill: (part: string) => void): string {
  if (existsSync(wanted)) return wanted;
  const part = `${wanted}.part-${process.pid}`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part, { mode: 0o755 });
  fill(part);
  allowReading(part);
  try {
    renameSync(part, wanted);
  } catch (error) {
    rmSync(part, { recursive: true });
    if (!existsSync(wanted)) throw error; // otherwise another start was faster
  }
  return wanted;
}

function filesOf(root: string, part: string): string[] {
  if (!statSync(join(root, part)).isDirectory()) return [part];
  return readdirSync(join(root, part))
    .sort()
    .flatMap((name) => filesOf(root, join(part, name)));
}

function digest(parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex').slice(0, 12);
}

function allowReading(directory: string): void {
  chmodSync(directory, 0o755);
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) allowReading(path);
    else if (entry.isFile()) chmodSync(path, (statSync(path).mode & 0o100) !== 0 ? 0o755 : 0o644);
  }
}
