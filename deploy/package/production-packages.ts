// The npm packages that a packaged Zonefleet needs, read from package-lock.json.

import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const UNREAD =
  /\/node_modules$|^\/(tests?|benchmarks?|examples?|docs)$|\.d\.[cm]?ts$|\.map$|\/(README|CHANGELOG|HISTORY)[^/]*\.md$/i;

export interface LockedPackage {
  readonly name?: string;
  readonly version: string;
  readonly license?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

export interface Lock {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

export function readLock(folder: string): Lock {
  return JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
}

/** Returns the paths of the packages that `names` need, directly or indirectly, sorted. Omits optional peers. */
export function packagesNeededBy(lock: Lock, names: Iterable<string>): string[] {
  const found = new Set<string>();
  const add = (from: string, name: string) => {
    const path = locate(lock, from, name);
    if (path === undefined || found.has(path)) return;
    found.add(path);
    for (const needed of namesNeededBy(lock.packages[path] as LockedPackage)) add(path, needed);
  };
  for (const name of names) add('', name);
  return [...found].sort();
}

function namesNeededBy(locked: LockedPackage): string[] {
  const { dependencies, optionalDependencies, peerDependencies = {}, peerDependenciesMeta = {} } = locked;
  const peers = Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name]?.optional !== true);
  return [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers];
}

/** Finds a package as Node.js does: in the folder of the package that needs it, then in the folders above. */
function locate({ packages }: Lock, from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.replace(/(^|\/)node_modules\/(@[^/]+\/)?[^/]+$/, '')) {
    const path = join(folder, 'node_modules', name);
    if (path in packages) return path;
    if (folder === '') return undefined;
  }
}

/** Returns those of the packages that are installed. Others are for another operating system or processor. */
export function installedPackages(folder: string, paths: readonly string[]): string[] {
  return paths.filter((path) => existsSync(join(folder, path)));
}

/** Omits what no program reads: types, source maps, tests and documents. They are half of the files. */
export function copyPackages(from: string, to: string, paths: readonly string[]): void {
  for (const path of installedPackages(from, paths)) {
    const source = join(from, path);
    // A package in another package's folder has its own path if it is needed.
    const filter = (file: string) => !UNREAD.test(file.slice(source.length));
    cpSync(source, join(to, path), { recursive: true, filter });
  }
}
