// A Postgres server for tests, with a migrated template database. A copy of it takes about 30 ms.

import { chmod, mkdtemp, readdir, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { migrate } from '../../../src/features/migrate.ts';
import { type RunningPostgres, startPostgres } from '../../../src/start/postgres/postgres.ts';
import { openDatabase } from '../../../src/store/postgres/database.ts';
import { DEBIAN_POSTGRES, databaseUrl, TEMPLATE_DATABASE, TEST_SETTINGS } from './database.ts';
import { prepareTemplate } from './reset-database.ts';

/** Test data is not worth waiting for the disk. */
const PARAMETERS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_wal_size: '256MB',
  autovacuum: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
};
/** A file system in memory, in which creating and dropping a database takes an eighth of the time. */
const IN_MEMORY = '/dev/shm';
const WANTED_BYTES = 4 * 1024 ** 3;
const PREFIX = 'zonefleet-test-';

interface StartedServer {
  readonly url: string;
  stop(): Promise<void>;
}

export async function startServer(kind: 'debian' | 'embedded'): Promise<StartedServer> {
  const directory = await mkdtemp(join(await findPlace(), `${PREFIX}${process.pid}-`));
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

async function findPlace(): Promise<string> {
  const space = await statfs(IN_MEMORY).catch(() => undefined);
  if (space === undefined) return tmpdir();
  await removeAbandoned();
  return space.bavail * space.bsize < WANTED_BYTES ? tmpdir() : IN_MEMORY;
}

/** Removes what killed runs have left in memory. */
async function removeAbandoned(): Promise<void> {
  for (const name of await readdir(IN_MEMORY)) {
    const pid = Number(name.startsWith(PREFIX) ? name.slice(PREFIX.length).split('-')[0] : Number.NaN);
    if (pid > 0 && !isRunning(pid)) await rm(join(IN_MEMORY, name), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'; // owned by another user
  }
}

async function makeTemplate(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(`create database ${TEMPLATE_DATABASE}`);
  await client.end();
  const db = openDatabase(databaseUrl({ url }, TEMPLATE_DATABASE));
  await migrate(db, TEST_SETTINGS);
  await prepareTemplate(db);
  await db.destroy();
}
