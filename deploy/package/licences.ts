// The licences of Zonefleet and of everything that its packages contain.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundledInConsole } from './console-packages.ts';
import { installedPackages, type LockedPackage, packagesNeededBy, readLock } from './production-packages.ts';

const LICENCE_FILE = /^(licen[cs]e|copying|notice)/i;
const RULE = '-'.repeat(72);

interface Included {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  /** Texts of the licence files. */
  readonly texts: readonly string[];
}

/** Returns one text with all licences. `node` is the folder of Node.js, if the package contains it. */
export function licencesOf(root: string, { node }: { readonly node?: string } = {}): string {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const lock = readLock(root);
  const needed = installedPackages(root, packagesNeededBy(lock, Object.keys(dependencies)));
  const consoleRoot = join(root, 'console');
  const consoleLock = readLock(consoleRoot);
  const included = [
    ...(node === undefined ? [] : [{ ...describe(node, { version: '' }), name: 'Node.js' }]),
    ...needed.map((path) => describe(join(root, path), lock.packages[path] as LockedPackage)),
    ...bundledInConsole(root).map((path) =>
      describe(join(consoleRoot, path), consoleLock.packages[path] as LockedPackage),
    ),
  ];
  const own = readFileSync(join(root, 'LICENSE'), 'utf8').trim();
  const parts = included.map(({ name, version, licence, texts }) =>
    [`${name} ${version}`, `Licence: ${licence}`, ...texts].join('\n\n'),
  );
  return `${[`Zonefleet\n\n${own}`, ...new Set(parts)].join(`\n\n${RULE}\n\n`)}\n`;
}

function describe(folder: string, { license }: LockedPackage): Included {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const texts = readdirSync(folder)
    .filter((name) => LICENCE_FILE.test(name))
    .sort()
    .map((name) => readFileSync(join(folder, name), 'utf8').trim());
  const licence = license ?? manifest.license;
  if (typeof licence !== 'string') throw new Error(`${folder} does not state its licence`);
  return { name: manifest.name, version: manifest.version, licence, texts };
}
