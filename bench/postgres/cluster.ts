// The benchmark's embedded Postgres, started when a part first needs it: one database per set of zones, kept for the
// following parts (and, with --keep, for later runs).

import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { startPostgres } from '../../src/start/postgres/postgres.ts';
import { onEnd } from '../cleanup.ts';
import { processTree } from '../process-tree.ts';
import { runToEnd } from '../program.ts';

export interface Cluster {
  readonly pid: number;
  readonly socketDirectory: string;
  /** Returns the URL of the database with this name. `load` fills it if it does not exist or is incomplete. */
  database(name: string, load: (url: string) => Promise<void>): Promise<string>;
}

let keptDirectory: string | undefined;
let running: Promise<Cluster> | undefined;

/** Keeps databases in the directory. Must be called before the first `benchCluster`. */
export function keepDatabasesIn(directory: string): void {
  keptDirectory = directory;
}

export function benchCluster(): Promise<Cluster> {
  running ??= start();
  return running;
}

/** Settings for loading. All others are those of an operator. */
const PARAMETERS = {
  shared_buffers: '512MB',
  maintenance_work_mem: '1GB',
  max_wal_size: '8GB',
  wal_level: 'minimal',
  max_wal_senders: '0',
};

async function start(): Promise<Cluster> {
  let directory = keptDirectory;
  if (directory === undefined) {
    const made = mkdtempSync(join(tmpdir(), 'zonefleet-bench-postgres-'));
    onEnd(() => rmSync(made, { recursive: true, force: true }));
    directory = made;
  }
  mkdirSync(directory, { recursive: true });
  chmodSync(directory, 0o755); // Postgres does not run as root
  const postgres = await startPostgres({ directory, parameters: PARAMETERS });
  onEnd(() => postgres.stop());
  return {
    pid: postgres.pid,
    socketDirectory: postgres.socketDirectory,
    async database(name, load) {
      const url = urlOf(postgres.url, name);
      if (!(await isWhole(postgres.url, name))) {
        await runOn(postgres.url, `drop database if exists ${name} with (force)`);
        await runOn(postgres.url, `create database ${name} template template0`);
        await load(url);
        await runOn(postgres.url, `comment on database ${name} is '${WHOLE}'`);
      }
      return url;
    },
  };
}

const WHOLE = 'loaded';

async function isWhole(url: string, name: string): Promise<boolean> {
  const rows = await runOn(
    url,
    `select from pg_database d where datname = '${name}' and shobj_description(oid, 'pg_database') = '${WHOLE}'`,
  );
  return rows.length > 0;
}

function urlOf(url: string, database: string): string {
  return url.replace(/^(postgresql:\/\/[^/]*\/)[^?]*/, `$1${database}`);
}

export async function runOn(url: string, ...statements: string[]): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    let rows: Record<string, unknown>[] = [];
    for (const statement of statements) rows = (await client.query(statement)).rows;
    return rows;
  } finally {
    await client.end();
  }
}

/** Restricts Postgres to the load's core while the server has the other. The returned function undoes this. */
export async function pinCluster(cpu: number | undefined): Promise<() => Promise<void>> {
  if (cpu === undefined) return async () => {};
  const { pid } = await benchCluster();
  const pin = async (cpus: string) => {
    // Later processes inherit it from the first one.
    for (const each of processTree(pid)) {
      await runToEnd(['taskset', '-apc', cpus, String(each)], { timeoutMs: 5000 }).catch(() => undefined);
    }
  };
  await pin(String(cpu));
  return () => pin(`0-${availableParallelism() - 1}`);
}
