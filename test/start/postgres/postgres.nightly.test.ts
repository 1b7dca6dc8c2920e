import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type PostgresOptions,
  type RunningPostgres,
  startPostgres,
} from '../../../src/start/postgres/postgres.ts';
import { isAlive, readPidFile } from '../../../src/start/postgres/postmaster.ts';
import { until } from '../../support/tests/until.ts';

/** A faster initdb, because these tests prove nothing about disks. */
const FAST = { parameters: { fsync: 'off' } };
const temporary: string[] = [];
const servers: RunningPostgres[] = [];
const children: ChildProcess[] = [];
/** Postmasters started by other launchers, which end them. */
const postmasters: number[] = [];

afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const server of servers.splice(0)) await server.stop();
  for (const pid of postmasters.splice(0)) await until(() => !isAlive(pid), 'its guard has ended it');
  for (const directory of temporary.splice(0)) rmSync(directory, { recursive: true, force: true });
});

function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'zf-postgres-'));
  chmodSync(directory, 0o711); // the Postgres user must be able to traverse it
  temporary.push(directory);
  return directory;
}

async function start(
  directory: string,
  options: Omit<PostgresOptions, 'directory'> = {},
): Promise<RunningPostgres> {
  const server = await startPostgres({ directory, ...options });
  servers.push(server);
  return server;
}

async function ask(url: string, statement: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query({ text: statement, rowMode: 'array' });
    return rows[0]?.[0];
  } finally {
    await client.end();
  }
}

/** A launcher in a separate process, and its output: the server's URL and pid, or an error. */
async function launchApart(
  directory: string,
): Promise<{ launcher: ChildProcess; said: Record<string, string> }> {
  const program = join(import.meta.dirname, '../../support/database/postgres-launcher.ts');
  const launcher = spawn(process.execPath, ['--import', 'tsx', program, directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(launcher);
  for await (const line of createInterface({ input: launcher.stdout! })) {
    const said = JSON.parse(line) as Record<string, string>;
    if (said.pid !== undefined) postmasters.push(Number(said.pid));
    return { launcher, said };
  }
  throw new Error('the launcher said nothing');
}

function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').map(Number);
}

function isStopped(pid: number): boolean {
  return /^State:\s*T/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
}

function killNow(child: ChildProcess): Promise<unknown> {
  const ended = new Promise((done) => child.once('exit', done));
  child.kill('SIGKILL');
  return ended;
}

describe('the embedded Postgres', () => {
  let directory: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'zf-postgres-'));
    return () => rmSync(directory, { recursive: true, force: true });
  });

  it('is PostgreSQL 18 with UTF-8 in byte order, durable, for 200 connections', async () => {
    const { url } = await start(directory);
    for (const [statement, value] of [
      ['show server_version', expect.stringMatching(/^18\./)],
      ['select current_database() || current_user', 'zonefleetzonefleet'],
      ["select 'B' < 'a' and lower('Ä') = 'ä'", true],
      ['show server_encoding', 'UTF8'],
      ['show fsync', 'on'],
      ['show max_connections', '200'],
    ] as const)
      expect([statement, await ask(url, statement)]).toEqual([statement, value]);
  });

  it('listens on a unix socket in a directory of mode 0700, on no TCP port, and not as root', async () => {
    const { url, socketDirectory, pid } = await start(directory);
    expect(statSync(socketDirectory).mode & 0o777).toBe(0o700);
    expect(await ask(url, 'show listen_addresses')).toBe('');
    expect(statSync(`/proc/${pid}`).uid).not.toBe(0);
  });

  it('starts on the existing cluster, and keeps committed data', async () => {
    const first = await start(directory);
    const identifier = 'select system_identifier::text from pg_control_system()'; // made by initdb
    const cluster = await ask(first.url, identifier);
    await ask(first.url, 'create table kept as select 7 as value');
    await first.stop();
    const second = await start(directory);
    expect(await ask(second.url, identifier)).toBe(cluster);
    expect(await ask(second.url, 'select value from kept')).toBe(7);
  });

  it('is stopped with its backends if all of it hangs, and starts again', async () => {
    const { url, pid, stop } = await start(directory);
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => {});
    await client.connect();
    process.kill(pid, 'SIGSTOP'); // first, so that it starts no other
    await until(() => isStopped(pid), 'it hangs');
    const children = childrenOf(pid);
    expect(children.length).toBeGreaterThan(0);
    for (const hung of children) process.kill(hung, 'SIGSTOP'); // ended ones are never reaped
    await until(() => children.every((child) => isStopped(child) || !isAlive(child)), 'all of it hangs');
    await stop();
    expect([pid, ...children].filter(isAlive)).toEqual([]);
    expect(await ask((await start(directory)).url, 'select 1')).toBe(1);
  });

  it('refuses a directory that another process uses, and names its pid', async () => {
    const { launcher, said } = await launchApart(directory);
    expect(said.error).toBeUndefined();
    await expect(start(directory)).rejects.toThrow(`process ${launcher.pid}`);
    expect(await ask(said.url as string, 'select 1')).toBe(1);
  });
});

describe('a launcher that is killed', () => {
  it('takes its Postgres with it', async () => {
    const { launcher, said } = await launchApart(temporaryDirectory());
    await killNow(launcher);
    await until(() => !isAlive(Number(said.pid)), 'the postmaster ends');
  });

  it('loses no committed data, and the next start has the cluster alone', async () => {
    const directory = temporaryDirectory();
    const { launcher, said } = await launchApart(directory);
    await ask(said.url as string, 'create table kept as select 7 as value');
    await killNow(launcher);
    const next = await start(directory, FAST);
    expect(isAlive(Number(said.pid))).toBe(false);
    expect(await ask(next.url, 'select value from kept')).toBe(7);
  });

  it('may leave its Postgres running: the next start ends it and has the only one', async () => {
    const directory = temporaryDirectory();
    const { launcher, said } = await launchApart(directory);
    process.kill(Number(said.pid), 'SIGSTOP'); // does not react to the guard
    await killNow(launcher);
    const next = await start(directory, FAST);
    expect(isAlive(Number(said.pid))).toBe(false);
    expect(readPidFile(join(directory, 'cluster'))?.pid).toBe(next.pid);
    expect(await ask(next.url, 'select 1')).toBe(1);
  });

  it('may leave a pid that now belongs to another program', async () => {
    const directory = temporaryDirectory();
    const first = await start(directory, FAST);
    const file = join(join(directory, 'cluster'), 'postmaster.pid');
    const text = readFileSync(file, 'utf8');
    await first.stop();
    const other = spawn('sleep', ['60'], { stdio: 'ignore' });
    children.push(other);
    writeFileSync(file, text.replace(/^\d+/, String(other.pid)));
    const { url } = await start(directory, FAST);
    expect(await ask(url, 'select 1')).toBe(1);
    expect(isAlive(other.pid as number)).toBe(true);
  });

  it('may leave an incomplete cluster', async () => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, 'cluster.part-1-1'));
    await start(directory, FAST);
    expect(existsSync(join(directory, 'cluster.part-1-1'))).toBe(false);
  });
});

describe('a directory', () => {
  it('whose path is too long for a socket gets a short one, and one of another major version is rejected', async () => {
    const directory = join(temporaryDirectory(), 'a'.repeat(60), 'b'.repeat(60));
    const { url, socketDirectory } = await start(directory, FAST);
    temporary.push(socketDirectory);
    expect(socketDirectory.length).toBeLessThan(80);
    expect(statSync(socketDirectory).mode & 0o777).toBe(0o700);
    expect(await ask(url, 'select 1')).toBe(1);
    const other = temporaryDirectory();
    mkdirSync(join(other, 'cluster'));
    writeFileSync(join(join(other, 'cluster'), 'PG_VERSION'), '12\n');
    await expect(start(other, FAST)).rejects.toThrow(/created by PostgreSQL 12, but this is PostgreSQL 18/);
  });

  it('is released after a failed start, so that the next attempt can use it', async () => {
    const directory = temporaryDirectory();
    await expect(start(directory, { parameters: { shared_buffers: 'many' } })).rejects.toThrow(
      /shared_buffers/,
    );
    const { url } = await start(directory, FAST);
    expect(await ask(url, 'select 1')).toBe(1);
  });
});
