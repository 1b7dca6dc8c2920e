// Builds the tarball for npm with `npm pack`, which sorts the files and sets their times. The tarball contains the packages that
// Zonefleet needs, including native ones for Linux on x86-64: npm would choose other versions, and omit the native packages.

import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { licencesOf } from './licences.ts';
import { makeReadable } from './make-readable.ts';
import { copyPackages, packagesNeededBy, readLock } from './production-packages.ts';

interface NpmOptions {
  readonly root: string;
  /** The folder that `buildProgram` has filled. */
  readonly program: string;
  /** A folder for the files of the package, which is replaced. */
  readonly work: string;
  readonly output: string;
}

/** Returns the path of the tarball. */
export function buildNpm({ root, program, work, output }: NpmOptions): string {
  rmSync(work, { recursive: true, force: true });
  cpSync(program, work, { recursive: true });
  bundlePackages(root, work);
  cpSync(join(root, 'README.md'), join(work, 'README.md'));
  writeFileSync(join(work, 'THIRD-PARTY-LICENCES'), licencesOf(root));
  makeReadable(work);
  const printed = execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', output], {
    cwd: work,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 64 * 1024 * 1024,
  });
  const [{ filename }] = JSON.parse(printed) as [{ filename: string }];
  return join(output, filename);
}

function bundlePackages(root: string, work: string): void {
  const manifest = JSON.parse(readFileSync(join(work, 'package.json'), 'utf8'));
  const needed = packagesNeededBy(readLock(root), Object.keys(manifest.dependencies));
  copyPackages(root, work, needed);
  const platform = { os: ['linux'], cpu: ['x64'], bundleDependencies: Object.keys(manifest.dependencies) };
  writeFileSync(join(work, 'package.json'), `${JSON.stringify({ ...manifest, ...platform }, null, 2)}\n`);
}
