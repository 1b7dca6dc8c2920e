// Builds the tarball for npm with `npm pack`, which sorts the files and sets their times.

import { execFileSync } from 'node:child_process';
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { licencesOf } from './licences.ts';

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
  cpSync(join(root, 'README.md'), join(work, 'README.md'));
  writeFileSync(join(work, 'THIRD-PARTY-LICENCES'), licencesOf(root));
  const printed = execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', output], {
    cwd: work,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 64 * 1024 * 1024,
  });
  const [{ filename }] = JSON.parse(printed) as [{ filename: string }];
  return join(output, filename);
}
