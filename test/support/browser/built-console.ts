// The console as `npm start` builds it: once for each version of its sources, for all tests.

import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { consoleFolder, keepConsoleBuilt } from '../../../src/start/console/build-console.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const BUILD = {
  sources: join(ROOT, 'console'),
  place: join(tmpdir(), `zonefleet-test-console-${process.getuid?.()}`),
};
const LONGEST_BUILD_MS = 240_000;

/** The folder with its files. */
export async function builtConsole(): Promise<string> {
  const told: string[] = [];
  const signal = AbortSignal.timeout(LONGEST_BUILD_MS);
  await keepConsoleBuilt({ ...BUILD, env: process.env, signal, say: (text) => told.push(text) });
  const folder = consoleFolder(BUILD);
  if (!existsSync(folder)) throw new Error(told.join('\n'));
  return folder;
}
