// Locates the compiled form of our programs and threads (start/compile.mjs). A compiled program starts others from the same
// directory, so that all parts of a process have the same version. Under tsx, everything runs from its source.

import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** Directory of this file. Defined only if it is compiled. */
declare const ZONEFLEET_COMPILED: string | undefined;

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Returns the compiled form of a program's source file, or undefined if the source must be run. */
export function compiledFile(source: URL): string | undefined {
  if (typeof ZONEFLEET_COMPILED === 'undefined' || !source.pathname.endsWith('.ts')) return undefined;
  const file = join(ZONEFLEET_COMPILED, relative(ROOT, fileURLToPath(source))).replace(/\.ts$/, '.mjs');
  return existsSync(file) ? file : undefined;
}

/** Returns the URL to import for a program's source file. */
export function programUrl(source: URL): URL {
  const compiled = compiledFile(source);
  return compiled === undefined ? source : pathToFileURL(compiled);
}
