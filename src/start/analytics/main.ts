// The process of the embedded analytics engine: ClickHouse (chdb) behind a filter on a Unix socket that only `npm start`
// uses. It gets its options from `npm start`, and keeps its files in one directory.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { dropRights } from '../../process/drop-rights.ts';
import type { ProcessUser } from '../../process/run-as.ts';
import { type ProcessLife, runProcess } from '../../process/run-process.ts';
import { createDoor, DATABASE } from './door.ts';
import { type EngineSession, Sessions } from './sessions.ts';

/** Options from `npm start`, as JSON in the environment. */
interface EngineOptions {
  /** Installation directory of the package `chdb`. */
  readonly packages: string;
  readonly directory: string;
  readonly socket: string;
  readonly password: string;
  readonly memoryBytes: number;
  readonly user?: ProcessUser | undefined;
}

interface Chdb {
  readonly Session: new (path: string, options: { connectionArgs: string[] }) => EngineSession;
}

const READS = 4;
const WRITES = 2;
const STOP_MS = 1200;

async function start(options: EngineOptions, life: ProcessLife): Promise<void> {
  // A running statement cannot be cancelled, so the process is killed. Unanswered statements count as not executed.
  life.stopping.addEventListener('abort', () => {
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), STOP_MS).unref();
  });
  process.umask(0o077);
  const { Session } = createRequire(join(options.packages, 'package.json'))('chdb') as Chdb;
  dropRights(options.user, { warn: () => {}, debug: () => {} });
  const open = openStore(Session, options);
  const first = open();
  life.onStop(async () => first.close());
  await first.queryAsync(`CREATE DATABASE IF NOT EXISTS ${DATABASE} ENGINE = Atomic`, { format: 'CSV' });
  const found = await first.queryAsync('SELECT name FROM system.table_functions', { format: 'TSV' });
  const make = async (count: number) => {
    const sessions = Array.from({ length: count }, open);
    for (const session of sessions) await session.queryAsync(`USE ${DATABASE}`, { format: 'CSV' });
    const made = new Sessions(sessions);
    life.onStop(async () => made.close());
    return made;
  };
  const door = createDoor(
    {
      reads: await make(READS),
      writes: await make(WRITES),
      pings: await make(1),
      sources: new Set(found.text().trim().toLowerCase().split('\n')),
    },
    options.password,
  );
  rmSync(options.socket, { force: true });
  await new Promise<void>((done, fail) => {
    door.once('error', fail);
    door.listen(options.socket, done);
  });
  life.onStop(
    () =>
      new Promise((done) => {
        door.close(done);
        door.closeAllConnections();
      }),
  );
  life.ready({ addresses: [] });
}

/** The configuration sets what statements cannot set: the engine's total memory and caches. */
function openStore(Session: Chdb['Session'], { directory, memoryBytes }: EngineOptions): () => EngineSession {
  const store = join(directory, 'store');
  const files = join(directory, 'empty');
  for (const each of [store, files]) mkdirSync(each, { recursive: true });
  const config = join(directory, 'config.xml');
  writeFileSync(
    config,
    `<clickhouse>
  <user_files_path>${files}/</user_files_path>
  <max_server_memory_usage>${memoryBytes}</max_server_memory_usage>
  <mark_cache_size>67108864</mark_cache_size>
  <uncompressed_cache_size>0</uncompressed_cache_size>
</clickhouse>\n`,
  );
  return () => new Session(store, { connectionArgs: [`--config-file=${config}`] });
}

runProcess((life) => start(JSON.parse(process.env.ANALYTICS_ENGINE ?? '{}') as EngineOptions, life));
