// Builds the console in a separate directory, once per version of its sources, completely or not at all. Removes the build
// tools (84 MiB) afterwards.

import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { runNpm } from '../npm/run-npm.ts';

const FIRST_RETRY_MS = 60_000;
const LAST_RETRY_MS = 3_600_000;
const BUILT = /^[0-9a-f]{16}$/;

interface ConsoleBuild {
  /** The program's `console` directory. */
  readonly sources: string;
  /** Destination: `consoleFolder` of the sources. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly say: (told: string) => void;
}

/** Returns the directory in `place` that has or will have the files built from these sources. */
export function consoleFolder(sources: string, place: string): string {
  return join(place, versionOf(sources));
}

/** Resolves when the files exist or the signal aborts. Reports failures and retries. */
export async function keepConsoleBuilt(build: ConsoleBuild): Promise<void> {
  if (existsSync(build.folder)) return;
  build.say('building the console in the background (set CONSOLE=off to skip it)');
  for (let retryMs = FIRST_RETRY_MS; !build.signal.aborted; retryMs = Math.min(retryMs * 2, LAST_RETRY_MS)) {
    try {
      await buildOnce(build);
      build.say('the console is ready');
      return;
    } catch (error) {
      if (build.signal.aborted || existsSync(build.folder)) return;
      const { message } = error as Error;
      build.say(`the console could not be built: ${message}; trying again in ${retryMs / 60_000} min`);
      await pause(retryMs, undefined, { signal: build.signal }).catch(() => {});
    }
  }
}

async function buildOnce(build: ConsoleBuild): Promise<void> {
  const { sources, folder, env, signal } = build;
  const place = dirname(folder);
  const part = `${folder}.part-${process.pid}`;
  mkdirSync(place, { recursive: true, mode: 0o755 });
  rmSync(part, { recursive: true, force: true });
  try {
    cpSync(sources, part, { recursive: true, filter: isSource });
    const options = { directory: part, signal, env: { ...env, NODE_ENV: 'production' } };
    await runNpm(['ci', '--include=dev', '--no-audit', '--no-fund', '--ignore-scripts'], options);
    await runNpm(['run', 'build'], options);
    // Another process may have built the same version meanwhile.
    if (!existsSync(folder)) renameSync(join(part, 'dist'), folder);
    removeOthers(place, folder);
  } finally {
    rmSync(part, { recursive: true, force: true });
  }
}

/** Removes earlier versions. Builds in progress have other names. */
function removeOthers(place: string, wanted: string): void {
  for (const name of readdirSync(place)) {
    if (BUILT.test(name) && name !== basename(wanted))
      rmSync(join(place, name), { recursive: true, force: true });
  }
}

function versionOf(sources: string): string {
  const hash = createHash('sha256');
  for (const path of sourceFiles(sources).sort())
    hash.update(path.slice(sources.length)).update('\0').update(readFileSync(path));
  return hash.digest('hex').slice(0, 16);
}

/** Skips node_modules, because `npm start` waits for this. */
function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .map((entry) => ({ entry, path: join(folder, entry.name) }))
    .filter(({ path }) => isSource(path))
    .flatMap(({ entry, path }) => (entry.isDirectory() ? sourceFiles(path) : [path]));
}

/** Excludes the output of npm and the builder, and the types generated from the API description. */
function isSource(path: string): boolean {
  return !/\/console\/(node_modules|dist)(\/|$)|schema\.d\.ts$/.test(path);
}
