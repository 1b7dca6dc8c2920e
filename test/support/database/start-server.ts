// A Postgres server for tests, with a migrated template database, from which a test's own is made in some 30 ms.

import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { type RunningPostgres, startPostgres } from '../../../src/start/postgres/postgres.ts';
import { migrate } from '../../../src/store/migrate/migrate.ts';
import { openDatabase } from '../../../src/store/postgres/database.ts';
import { DEBIAN_POSTGRES, databaseUrl, TEMPLATE_DATABASE, TEST_SETTINGS } from './database.ts';

/** Nothing of a test's is worth a wait for the disk. */
const PARAMETERS = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

export interface StartedServer {
  readonly url: string;
  stop(): Promise<void>;
}

export async function startServer(kind: 'debian' | 'embedded'): Promise<StartedServer> {
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
