// The npm packages whose code the built console contains.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packagesNeededBy, readLock } from './production-packages.ts';

const IMPORT = /\bfrom '((?:@[^/']+\/)?[^./'][^/']*)|\bimport '((?:@[^/']+\/)?[^./'][^/']*)/g;

/** Returns their paths in `console`, sorted. */
export function bundledInConsole(root: string): string[] {
  const folder = join(root, 'console/src');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /\.tsx?$/.test(path),
  );
  const imported = files.flatMap((path) =>
    [...readFileSync(join(folder, path), 'utf8').matchAll(IMPORT)].map(
      ([, from, bare]) => (from ?? bare) as string,
    ),
  );
  return packagesNeededBy(readLock(join(root, 'console')), new Set(imported));
}
