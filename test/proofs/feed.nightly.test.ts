// Many writers, three nodes, and all kinds of database failures. Afterwards, each node holds exactly what Postgres
// holds, checked name by name. One node reads a streaming standby, one is killed and restarted, and one is
// disconnected for a while. The test is random, with a seed that a failure prints.

import { type ChildProcess, execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Name, parseName } from '../../src/dns/name.ts';
import { migrate } from '../../src/features/migrate.ts';
import { type RunningPostgres, startPostgres } from '../../src/start/postgres/postgres.ts';
import { confirmNodes } from '../../src/store/feed/nodes.ts';
import { type Database, openDatabase } from '../../src/store/postgres/database.ts';
import { saveZones, unloadZones } from '../../src/store/zones/save-zones.ts';
import type { ZoneRecord } from '../../src/zone/zone.ts';
import { randomOf } from '../support/billing/random.ts';
import { DEBIAN_POSTGRES, runOn, TEST_SETTINGS } from '../support/database/database.ts';
import { emptyTables } from '../support/database/domains.ts';
import { type FollowingNode, follow, smallZone, untilEqual } from '../support/processes/follow.ts';
import type { ChildAnswer } from '../support/processes/follow-child.ts';
import { startProxy, type TcpProxy } from '../support/processes/tcp-proxy.ts';
import { scale } from '../support/tests/scale.ts';
import { until } from '../support/tests/until.ts';

// A primary and a streaming standby of Debian's Postgres 15, and its programs.

const run = promisify(execFile);
const PARAMETERS = { fsync: 'off', full_page_writes: 'off', wal_keep_size: '1GB', max_connections: '100' };

interface PrimaryAndStandby {
  primary: RunningPostgres;
  standby: RunningPostgres;
  directory: string;
  stop(): Promise<void>;
}

/** Runs a Postgres client program with a server's socket. */
async function postgresProgram(
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

async function startPrimaryAndStandby(): Promise<PrimaryAndStandby> {
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

const WRITERS = 32;
const EDITS = scale(10_000, 800);
const LATER_EDITS = scale(1000, 60);
const ZONES = scale(400, 150);
const TIMEOUT_MS = scale(20 * 60_000, 120_000);
const SEED = Number(process.env.ZONEFLEET_SEED ?? Math.floor(Math.random() * 2 ** 31));
const BY = { source: 'test' } as const;
const suffix = existsSync(DEBIAN_POSTGRES) ? '' : ' (skipped: needs postgresql-15)';

const OWNERS = ['a', 'b', 'c.b', '*.w', 'x.y.z', 'k'];

type Random = (below: number) => number;

let serial = 0;

function randomZone(apex: string, random: Random): { apex: Name; records: ZoneRecord[] } {
  const lines: string[] = [];
  for (let i = random(25); i > 0; i--) {
    const owner = `${OWNERS[random(OWNERS.length)]}${random(3) === 0 ? random(5) : ''}`;
    const ttl = 60 + 60 * owner.length;
    if (random(2) === 0) lines.push(`${owner} ${ttl} IN A 192.0.2.${random(200)}`);
    else lines.push(`${owner} ${ttl} IN TXT "${'t'.repeat(random(60))}${random(3)}"`);
  }
  return smallZone(apex, ++serial, lines.join('\n'));
}

/** One of `WRITERS`. It saves or unloads one or a few zones, often in another order than the other writers. */
async function edit(db: Database, random: Random): Promise<void> {
  const apexes = new Set(
    Array.from({ length: 1 + random(10 * random(2) + 1) }, () => `z${random(ZONES)}.example.`),
  );
  if (random(10) === 0) {
    await unloadZones(
      db,
      [...apexes].map((apex) => parseName(apex)),
      BY,
    );
  } else {
    await saveZones(
      db,
      [...apexes].map((apex) => randomZone(apex, random)),
      BY,
    );
  }
}

async function editAll(
  db: Database,
  count: number,
  seed: number,
  onEdit?: (done: number) => void,
): Promise<void> {
  let started = 0;
  let done = 0;
  const writer = async (_: unknown, i: number) => {
    const random = randomOf(seed + i);
    while (started++ < count) {
      await edit(db, random);
      onEdit?.(++done);
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, writer));
}

class ChildNode {
  readonly #options: { databaseUrl: string; nodeName: string };
  #child!: ChildProcess;

  constructor(options: { databaseUrl: string; nodeName: string }) {
    this.#options = options;
    this.start();
  }

  start(): void {
    this.#child = fork(
      new URL('../support/processes/follow-child.ts', import.meta.url),
      [JSON.stringify(this.#options)],
      {
        execArgv: ['--import', 'tsx'],
      },
    );
  }

  async kill(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }

  async differences(databaseUrl: string): Promise<ChildAnswer> {
    const answered = once(this.#child, 'message');
    this.#child.send(databaseUrl);
    return (await answered)[0] as ChildAnswer;
  }

  async untilEqual(databaseUrl: string): Promise<void> {
    let answer: ChildAnswer | undefined;
    await until(
      async () => {
        answer = await this.differences(databaseUrl);
        return answer.loaded && answer.differences.length === 0;
      },
      () => JSON.stringify(answer?.differences.slice(0, 5)),
      60_000,
    );
  }
}

describe.skipIf(suffix !== '')(`the change feed under 32 writers, seed ${SEED}${suffix}`, () => {
  let servers: PrimaryAndStandby;
  let current: RunningPostgres;
  let db: Database;
  let proxies: { primary: TcpProxy; standby: TcpProxy; cutOff: TcpProxy };
  let onStandby: FollowingNode;
  let cutOff: FollowingNode;
  let killed: ChildNode;

  beforeAll(async () => {
    servers = await startPrimaryAndStandby();
    current = servers.primary;
    db = openDatabase(current.url, { maxConnections: WRITERS });
    await migrate(db, TEST_SETTINGS);
    await saveZones(
      db,
      Array.from({ length: ZONES }, (_, i) => smallZone(`z${i}.example.`, 1)),
      BY,
    );
    proxies = {
      primary: await startProxy(current.url),
      standby: await startProxy(servers.standby.url),
      cutOff: await startProxy(current.url),
    };
    onStandby = await follow({
      databaseUrl: proxies.primary.url,
      readUrl: proxies.standby.url,
      nodeName: 'on-standby',
    });
    cutOff = await follow({ databaseUrl: proxies.cutOff.url, nodeName: 'cut-off' });
    killed = new ChildNode({ databaseUrl: proxies.primary.url, nodeName: 'killed' });
    await killed.untilEqual(current.url);
  });

  afterAll(async () => {
    await Promise.all([onStandby?.stop(), cutOff?.stop(), killed?.kill()]);
    await db?.destroy();
    for (const proxy of Object.values(proxies ?? {})) await proxy.stop();
    await servers?.stop();
  });

  async function allEqual(): Promise<void> {
    await untilEqual(cutOff, db, 60_000);
    await untilEqual(onStandby, db, 60_000);
    await killed.untilEqual(current.url);
  }

  async function newestVersion(): Promise<number> {
    const { rows } = await sql<{ id: number }>`select max(id) as id from changes`.execute(db);
    return rows[0]?.id ?? 0;
  }

  /** Edits after a restore or a promotion. Returns true if they use version numbers up to `before` again. */
  async function editsReuseVersions(before: number, seed: number): Promise<boolean> {
    const restored = await newestVersion();
    await editAll(db, LATER_EDITS, seed);
    const { rows } = await sql<{
      id: number;
    }>`select min(id) as id from changes where id > ${restored}`.execute(db);
    return (rows[0]?.id ?? Number.POSITIVE_INFINITY) <= before;
  }

  test(
    'three nodes hold the data of Postgres, although one is killed and one is disconnected',
    async () => {
      let restarting: Promise<void> | undefined;
      await editAll(db, EDITS, SEED, (done) => {
        if (done === Math.floor(EDITS / 4)) proxies.cutOff.pause();
        if (done === Math.floor(EDITS / 3)) restarting = killed.kill().then(() => killed.start());
        if (done === Math.floor(EDITS / 1.5)) proxies.cutOff.resume();
      });
      await restarting;
      await allEqual();
      expect(cutOff.zones.size).toBeGreaterThan(ZONES / 2);
    },
    TIMEOUT_MS,
  );

  async function dumped(name: string, ...options: string[]): Promise<string> {
    const dump = join(servers.directory, `${name}.dump`);
    await postgresProgram('pg_dump', current, ['-Fc', ...options, '-f', dump, 'zonefleet']);
    return dump;
  }

  const restore = (...options: string[]) =>
    postgresProgram('pg_restore', current, [...options, '-d', 'zonefleet']);

  async function recreateAndRestore(dump: string): Promise<void> {
    await db.destroy();
    const maintenance = { url: current.url.replace('/zonefleet?', '/postgres?') };
    await runOn(maintenance, 'drop database zonefleet with (force)');
    await runOn(maintenance, 'create database zonefleet');
    await restore(dump);
    db = openDatabase(current.url, { maxConnections: WRITERS });
  }

  async function restoreRows(dump: string): Promise<void> {
    const { rows } = await sql<{ name: string }>`
      select tablename as name from pg_tables where schemaname = 'public' and tablename <> 'nodes'`.execute(
      db,
    );
    await emptyTables(db, ...rows.map(({ name }) => name));
    await restore('--data-only', '--disable-triggers', dump);
  }

  test.each([
    [
      'pg_restore --clean into the same database',
      [],
      (dump: string) => restore('--clean', '--if-exists', dump),
    ],
    ['the database was dropped, created and restored', [], recreateAndRestore],
    ['only the rows were restored', ['--exclude-table-data=nodes'], restoreRows],
  ] as const)(
    'the same after %s, with version numbers used again',
    async (what, options, restored) => {
      const seed = SEED + 200 * what.length;
      const dump = await dumped(String(what.length), ...options);
      await editAll(db, LATER_EDITS, seed);
      await allEqual();
      const before = await newestVersion();
      await restored(dump);
      expect(await editsReuseVersions(before, seed + 100)).toBe(true);
      // A node that reads while rows are restored has seen a database without zones, and holds them as deleted.
      const confirm = () => confirmNodes(db).catch(() => undefined);
      const confirming = restored === restoreRows ? setInterval(confirm, 200) : undefined;
      await allEqual().finally(() => clearInterval(confirming));
    },
    TIMEOUT_MS,
  );

  test(
    'the same after the standby was promoted, without the last commits of the old primary',
    async () => {
      await allEqual();
      const standby = { url: servers.standby.url };
      await runOn(standby, `alter system set primary_conninfo = ''`);
      await runOn(standby, 'select pg_reload_conf()');
      await until(async () => (await runOn(current, 'select from pg_stat_replication')).length === 0);
      await editAll(db, LATER_EDITS, SEED + 700); // lost, but the two nodes on the primary have seen them
      await untilEqual(cutOff, db);
      await killed.untilEqual(current.url);
      const before = await newestVersion();
      await db.destroy();
      proxies.primary.cut();
      proxies.cutOff.cut();
      await servers.primary.stop();
      await runOn(standby, 'select pg_promote(true)');
      current = servers.standby;
      db = openDatabase(current.url, { maxConnections: WRITERS });
      for (const proxy of [proxies.primary, proxies.cutOff]) proxy.pointAt(current.url);
      proxies.primary.resume();
      expect(await editsReuseVersions(before, SEED + 800)).toBe(true);
      proxies.cutOff.resume();
      await allEqual();
    },
    TIMEOUT_MS,
  );
});
