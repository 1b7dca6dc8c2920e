// The compiled form of our programs and threads (start/compile.mjs): a compiled one starts others from the same directory, so
// that all parts of a process are of one version. Under tsx there is none, and everything runs from its source.

import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** Set when this file is compiled: its directory. */
declare const ZONEFLEET_COMPILED: string | undefined;

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The compiled form of a program's source file; undefined: run the source. */
export function compiledFile(source: URL): string | undefined {
  if (typeof ZONEFLEET_COMPILED === 'undefined' || !source.pathname.endsWith('.ts')) return undefined;
  const file = join(ZONEFLEET_COMPILED, relative(ROOT, fileURLToPath(source))).replace(/\.ts$/, '.mjs');
  return existsSync(file) ? file : undefined;
}

/** The URL to import for a program's source file. */
export function programUrl(source: URL): URL {
  const compiled = compiledFile(source);
  return compiled === undefined ? source : pathToFileURL(compiled);
}
