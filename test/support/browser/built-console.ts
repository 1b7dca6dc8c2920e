// The console as built by `npm start`, once per version of its sources, for all tests.

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { consoleFolder, keepConsoleBuilt } from '../../../src/start/console/build-console.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const SOURCES = join(ROOT, 'console');
/** Only for this clone, because a build removes other versions. */
const CLONE = createHash('sha256').update(ROOT).digest('hex').slice(0, 12);
const PLACE = join(tmpdir(), `zonefleet-test-console-${process.getuid?.()}-${CLONE}`);
const LONGEST_BUILD_MS = 240_000;

export async function builtConsole(): Promise<string> {
  const told: string[] = [];
  const signal = AbortSignal.timeout(LONGEST_BUILD_MS);
  const folder = consoleFolder(SOURCES, PLACE);
  const say = (text: string) => void told.push(text);
  await keepConsoleBuilt({ sources: SOURCES, folder, env: process.env, signal, say });
  if (!existsSync(folder)) throw new Error(told.join('\n'));
  return folder;
}
