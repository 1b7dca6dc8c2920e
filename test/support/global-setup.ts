// The Postgres server of a project's test files, started once: the embedded one or, for the project `postgres-15`, Debian's.
// It has a migrated template database, from which a test's own is made in some 30 ms.

import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import type { TestProject } from 'vitest/node';
import { type RunningPostgres, startPostgres } from '../../src/start/postgres.ts';
import { openDatabase } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import {
  DEBIAN_POSTGRES,
  databaseUrl,
  TEMPLATE_DATABASE,
  TEST_SETTINGS,
  type TestServer,
} from './database.ts';

declare module 'vitest' {
  interface ProvidedContext {
    postgresServer: TestServer;
  }
}

/** Nothing of a test's is worth a wait for the disk. */
const PARAMETERS = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

/** Projects that want the same server share it: Vitest sets all of them up in one process. */
const shared = globalThis as { zonefleetTestServers?: Map<string, SharedServer> };

interface SharedServer {
  users: number;
  readonly started: Promise<{ readonly url: string; stop(): Promise<void> }>;
}

export default async function shareServer(project: TestProject): Promise<() => Promise<void>> {
  const kind = project.name === 'postgres-15' ? 'debian' : 'embedded';
  shared.zonefleetTestServers ??= new Map();
  const server = shared.zonefleetTestServers.get(kind) ?? { users: 0, started: startServer(kind) };
  shared.zonefleetTestServers.set(kind, server);
  server.users++;
  const { url, stop } = await server.started;
  project.provide('postgresServer', { name: kind === 'debian' ? 'Postgres 15' : 'Postgres 18', url });
  return async () => {
    if (--server.users === 0) await stop();
  };
}

async function startServer(kind: string): Promise<{ url: string; stop(): Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), 'zonefleet-test-'));
  await chmod(directory, 0o711); // for the unprivileged user that root's Postgres runs as
  let server: RunningPostgres | undefined;
  const stop = async () => {
    await server?.stop();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    server = await startPostgres({
      directory: join(directory, kind),
      parameters: PARAMETERS,
      ...(kind === 'debian' ? { binaries: { directory: DEBIAN_POSTGRES } } : {}),
    });
    await makeTemplate(server.url);
    return { url: server.url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function makeTemplate(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(`create database ${TEMPLATE_DATABASE}`);
  await client.end();
  const db = openDatabase(databaseUrl({ url }, TEMPLATE_DATABASE));
  await migrate(db, TEST_SETTINGS);
  await db.destroy();
}
