// Finds the embedded database, the analytics store and the address of a running `npm start`, which writes a file in
// DATA_DIR for other processes and the CLI. A killed run may leave the file behind, so the process must be alive and
// its socket exist.

import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartFault } from '../../process/start-fault.ts';

const FILE = 'npm-start.json';

interface Running {
  readonly pid: number;
  readonly databaseUrl: string;
  readonly socket: string;
  readonly analyticsUrl?: string;
  /** The URL at which browsers reach the API. */
  readonly publicUrl?: string;
}

/** Returns the URL of the embedded server of the `npm start` that uses this directory, or undefined if none is running. */
export function findDatabaseUrl(dataDirectory: string): string | undefined {
  return findRunning(dataDirectory)?.databaseUrl;
}

/** Returns the URL of its analytics store, or undefined if it has none of its own. */
export function findAnalyticsUrl(dataDirectory: string): string | undefined {
  return findRunning(dataDirectory)?.analyticsUrl;
}

/** Returns the URL that its links contain. */
export function findPublicUrl(dataDirectory: string): string | undefined {
  return findRunning(dataDirectory)?.publicUrl;
}

function findRunning(dataDirectory: string): Running | undefined {
  try {
    const running = JSON.parse(readFileSync(join(dataDirectory, FILE), 'utf8')) as Running;
    return isAlive(running.pid) && existsSync(running.socket) ? running : undefined;
  } catch {
    return undefined; // no file, or not a valid one
  }
}

/** Returns the configured URL, or else that of the embedded server. */
export function requireDatabaseUrl(settings: {
  readonly databaseUrl: string | undefined;
  readonly dataDirectory: string;
}): string {
  const url = settings.databaseUrl ?? findDatabaseUrl(settings.dataDirectory);
  if (url !== undefined) return url;
  throw new StartFault(
    `DATABASE_URL is not set, and no "npm start" is running in ${settings.dataDirectory}; start it, or set DATABASE_URL or DATA_DIR`,
  );
}

/** Only `npm start` calls it, for the embedded server. URLs contain passwords, so other users must not read the file. */
export function publishDatabaseUrl(
  dataDirectory: string,
  databaseUrl: string,
  socketDirectory: string,
  others: Pick<Running, 'analyticsUrl' | 'publicUrl'> = {},
): void {
  mkdirSync(dataDirectory, { recursive: true });
  const part = join(dataDirectory, `${FILE}.${process.pid}`);
  const running: Running = {
    ...{ pid: process.pid, databaseUrl, socket: socketDirectory },
    ...others,
  };
  rmSync(part, { force: true });
  writeFileSync(part, `${JSON.stringify(running)}\n`, { mode: 0o600 });
  renameSync(part, join(dataDirectory, FILE));
}

export function withdrawDatabaseUrl(dataDirectory: string): void {
  rmSync(join(dataDirectory, FILE), { force: true });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
