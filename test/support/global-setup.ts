// The Postgres servers of all test files, started once: the embedded one and, where it is installed, Debian's 15. Each has
// a migrated template database, from which a test's own is made in some 30 ms.

import { existsSync } from 'node:fs';
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
    postgresServers: TestServer[];
  }
}

/** Nothing of a test's is worth a wait for the disk. */
const PARAMETERS = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

export default async function startServers(project: TestProject): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), 'zonefleet-test-'));
  await chmod(directory, 0o711); // for the unprivileged user that root's Postgres runs as
  const servers: RunningPostgres[] = [];
  const stop = async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await rm(directory, { recursive: true, force: true });
  };
  try {
    const kinds = ['embedded', ...(existsSync(DEBIAN_POSTGRES) ? ['debian'] : [])];
    const started = await Promise.all(
      kinds.map(async (kind) => {
        const server = await startPostgres({
          directory: join(directory, kind),
          parameters: PARAMETERS,
          ...(kind === 'debian' ? { binaries: { directory: DEBIAN_POSTGRES } } : {}),
        });
        servers.push(server);
        return { name: kind === 'debian' ? 'Postgres 15' : 'Postgres 18', url: server.url };
      }),
    );
    for (const server of started) await makeTemplate(server.url);
    project.provide('postgresServers', started);
    return stop;
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
