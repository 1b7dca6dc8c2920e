// Creates the catalog of the benchmark with the command that operators use.

import { fileURLToPath } from 'node:url';
import { runToEnd } from '../program.ts';

export const CATALOG = 'catalog.bench.test.';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** @param more additional arguments of the command */
export async function createCatalog(databaseUrl: string, ...more: string[]): Promise<void> {
  await runCli(databaseUrl, 'create', CATALOG, ...more);
}

/** Removes the catalog of an earlier run, if databases are kept. */
export async function removeCatalog(databaseUrl: string): Promise<void> {
  await runCli(databaseUrl, 'remove', CATALOG).catch(() => {});
}

async function runCli(databaseUrl: string, ...words: string[]): Promise<void> {
  await runToEnd([process.execPath, 'src/start/run.mjs', 'src/cli/main.ts', 'catalog', ...words], {
    cwd: ROOT,
    env: { ...process.env, DATABASE_URL: databaseUrl },
    timeoutMs: 60_000,
  });
}
