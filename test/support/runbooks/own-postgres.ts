// A server of Debian's Postgres for one test file, on a port of loopback.

import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningPostgres, startPostgres } from '../../../src/start/postgres/postgres.ts';
import { postgresUser } from '../../../src/start/postgres/postgres-user.ts';
import { DEBIAN_POSTGRES } from '../database/database.ts';
import { freePort } from '../processes/free-port.ts';

const PARAMETERS = { fsync: 'off', max_connections: '100', max_wal_size: '256MB' };

/** Roles that an administrator creates. */
const STATEMENTS = [
  'create role postgres superuser login',
  'create role replicator replication login',
  'create role zonefleet_owner login createrole',
  'alter database zonefleet owner to zonefleet_owner',
];

export type OwnPostgres = Awaited<ReturnType<typeof startOwnPostgres>>;

interface OwnPostgresOptions {
  /** If true, the server has no cluster yet and is not started. */
  readonly isEmpty?: boolean;
  /** Roles that need a password on TCP. All others are trusted. */
  readonly needPassword?: readonly string[];
}

export async function startOwnPostgres({ isEmpty = false, needPassword }: OwnPostgresOptions = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'zonefleet-postgres-'));
  chmodSync(directory, 0o711);
  const cluster = join(directory, 'cluster');
  const port = await freePort();
  const parameters: Record<string, string> = { ...PARAMETERS };
  if (needPassword !== undefined) {
    parameters.hba_file = join(directory, 'hba.conf');
    const rules = [
      'local all all trust',
      `host all ${needPassword.join()} 127.0.0.1/32 scram-sha-256`,
      'host all all 127.0.0.1/32 trust',
    ];
    writeFileSync(parameters.hba_file, `${rules.join('\n')}\n`, { mode: 0o644 });
  }
  let server: RunningPostgres | undefined;
  const own = {
    directory,
    cluster,
    port,
    urlOf: (user: string, database = 'zonefleet') => `postgresql://${user}@127.0.0.1:${port}/${database}`,
    async start(): Promise<void> {
      server ??= await startPostgres({
        directory,
        binaries: { directory: DEBIAN_POSTGRES },
        tcpPort: port,
        parameters,
      });
    },
    async stop(): Promise<void> {
      await server?.stop();
      server = undefined;
    },
    /** Kills the server. `start` starts it again. */
    async kill(): Promise<void> {
      if (server !== undefined) process.kill(server.pid, 'SIGKILL');
      await server?.exited;
      server = undefined;
    },
    async end(): Promise<void> {
      await own.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
  if (isEmpty) {
    mkdirSync(cluster, { mode: 0o700 });
    const { uid, gid } = postgresUser(cluster);
    if (uid !== undefined && gid !== undefined)
      for (const path of [cluster, directory]) chownSync(path, uid, gid);
  } else {
    await own.start();
    for (const statement of STATEMENTS) execFileSync('psql', [own.urlOf('zonefleet'), '-qc', statement]);
  }
  return own;
}
