// The cluster on disk, created once, completely or not at all. An interrupted run leaves only a directory that is
// discarded.

import { execFile, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { StartFault } from '../../process/start-fault.ts';
import type { PostgresUser } from './postgres-user.ts';

/** Environment of the Postgres programs: none of our PG* variables and secrets, and messages in English. */
export const POSTGRES_ENVIRONMENT = { PATH: '/usr/bin:/bin', LC_ALL: 'C' };

/**
 * The cluster's superuser, and the name of its database. `initdb` trusts every connection, but `npm start` uses a stricter
 * file.
 */
export const SUPERUSER = 'zonefleet';

interface ClusterOptions {
  readonly bin: string;
  readonly cluster: string;
  readonly major: number;
  readonly user: PostgresUser;
  readonly sync: boolean;
}

/** Throws if another major version created the cluster. */
export function checkMajor(cluster: string, major: number): void {
  if (!existsSync(cluster)) return;
  const made = Number.parseInt(readFileSync(join(cluster, 'PG_VERSION'), 'utf8'), 10);
  if (made === major) return;
  throw new StartFault(
    `the database in ${cluster} was created by PostgreSQL ${made}, but this is PostgreSQL ${major}: ` +
      `dump it with PostgreSQL ${made}, move the directory away, start again, and restore the dump`,
  );
}

export async function createCluster({ bin, cluster, major, user, sync }: ClusterOptions): Promise<void> {
  const parent = dirname(cluster);
  for (const name of readdirSync(parent)) {
    if (name.startsWith('cluster.part-')) rmSync(join(parent, name), { recursive: true, force: true });
  }
  const part = `${cluster}.part-${process.pid}-${Date.now()}`;
  makePrivateDirectory(part, user);
  const locale = ['--encoding=UTF8', '--locale=C'];
  // Since version 17, Postgres has C.UTF-8 built in: the same byte order as C on every machine, with character classes.
  if (major >= 17) locale.push('--locale-provider=builtin', '--builtin-locale=C.UTF-8');
  const args = ['-D', part, '-U', SUPERUSER, '--auth=trust', '--no-instructions', ...locale];
  try {
    await promisify(execFile)(join(bin, 'initdb'), sync ? args : [...args, '--no-sync'], {
      cwd: '/',
      env: POSTGRES_ENVIRONMENT,
      ...user,
    });
    await runSingleUser(bin, part, user, `CREATE DATABASE ${SUPERUSER};\n`);
  } catch (error) {
    rmSync(part, { recursive: true, force: true });
    const { stderr, message } = error as Error & { stderr?: string };
    throw new StartFault(`cannot create the database in ${cluster}: ${(stderr || message).trim()}`);
  }
  renameSync(part, cluster);
}

/** Creates the directory with mode 0700 before changing its owner, so that no other user can put anything into it. */
export function makePrivateDirectory(path: string, { uid, gid }: PostgresUser): void {
  mkdirSync(path, { mode: 0o700 });
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
}

/** Runs a statement while no server is running. */
export function runSingleUser(
  bin: string,
  cluster: string,
  user: PostgresUser,
  statement: string,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(join(bin, 'postgres'), ['--single', '-D', cluster, 'postgres'], {
      cwd: '/',
      env: POSTGRES_ENVIRONMENT,
      stdio: ['pipe', 'ignore', 'pipe'],
      ...user,
    });
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.on('error', reject);
    child.on('close', (code) =>
      code === 0 && !/^.*\b(ERROR|FATAL|PANIC): /m.test(stderr) ? resolve() : reject(new Error(stderr)),
    );
    child.stdin.on('error', () => {}); // it ended early: 'close' reports why
    child.stdin.end(statement);
  });
}
