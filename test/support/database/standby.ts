// A primary and a streaming standby of Debian's Postgres 15, and its programs.

import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type RunningPostgres, startPostgres } from '../../../src/start/postgres/postgres.ts';
import { DEBIAN_POSTGRES } from './database.ts';

const run = promisify(execFile);
const PARAMETERS = { fsync: 'off', full_page_writes: 'off', wal_keep_size: '1GB', max_connections: '100' };

export interface PrimaryAndStandby {
  primary: RunningPostgres;
  standby: RunningPostgres;
  directory: string;
  stop(): Promise<void>;
}

/** Runs a Postgres client program with a server's socket. */
export async function postgresProgram(
  program: string,
  server: RunningPostgres,
  args: readonly string[],
): Promise<string> {
  const { stdout } = await run(
    join(DEBIAN_POSTGRES, 'bin', program),
    ['-h', server.socketDirectory, '-p', '5432', '-U', 'zonefleet', ...args],
    { env: { PATH: process.env.PATH, LC_ALL: 'C' }, maxBuffer: 1 << 26 },
  );
  return stdout;
}

export async function startPrimaryAndStandby(): Promise<PrimaryAndStandby> {
  const directory = await mkdtemp(join(tmpdir(), 'zonefleet-standby-'));
  await chmod(directory, 0o711);
  const servers: RunningPostgres[] = [];
  const stop = async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await rm(directory, { recursive: true, force: true });
  };
  try {
    const binaries = { directory: DEBIAN_POSTGRES };
    const primary = await startPostgres({
      directory: join(directory, 'primary'),
      binaries,
      parameters: PARAMETERS,
    });
    servers.push(primary);
    await mkdir(join(directory, 'standby'), { mode: 0o711 });
    const cluster = join(directory, 'standby', 'cluster');
    await postgresProgram('pg_basebackup', primary, ['-D', cluster, '-R', '-X', 'stream', '-c', 'fast']);
    const { uid, gid } = await stat(join(directory, 'primary', 'cluster'));
    if (process.getuid?.() === 0) await run('chown', ['-R', `${uid}:${gid}`, cluster]);
    const standby = await startPostgres({
      directory: join(directory, 'standby'),
      binaries,
      parameters: PARAMETERS,
    });
    servers.push(standby);
    return { primary, standby, directory, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
