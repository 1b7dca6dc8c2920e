// The fleet of the soak: Postgres with a standby, Redis, three nodes, two API and two workers processes, below a signed
// root and TLD of their own, with Unbound in front.

import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openDatabase } from '../../src/store/postgres/database.ts';
import { startRealParent } from '../../test/support/peers/real-parent.ts';
import { freePort } from '../../test/support/processes/free-port.ts';
import { startUnbound } from '../../test/support/validators/unbound.ts';
import { onEnd } from '../cleanup.ts';
import { runOn } from '../postgres/cluster.ts';
import { fleetCommand, PROGRAM_PATH } from '../program.ts';
import { Asker } from './ask-names.ts';
import type { FleetState } from './fleet-state.ts';
import { Owner } from './owner.ts';
import type { Target } from './plan-faults.ts';
import { copyCluster, copyPrimary, type Disk, openDisk, PostgresServer } from './postgres-pair.ts';
import { Supervised } from './supervised.ts';

const START_LIMIT_MS = 600_000;
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Names of the three nodes in every delegation. */
export const NAMESERVERS = ['ns1.fleet.zz', 'ns2.fleet.zz', 'ns3.fleet.zz'];
/** Resolvers may keep an answer this long: Unbound is configured so. */
export const CACHE_SECONDS = 5;
/** The node that reads the standby. */
export const STANDBY_READER = 'ns3';

export type NodeLabel = 'ns1' | 'ns2' | 'ns3';
export const NODES: readonly NodeLabel[] = ['ns1', 'ns2', 'ns3'];

export type Fleet = Awaited<ReturnType<typeof startFleet>>;

export interface FleetPlan {
  readonly directory: string;
  readonly state: FleetState;
  readonly onCrash: (label: string, reason: string) => void;
}

export async function startFleet({ directory, state, onCrash }: FleetPlan) {
  const parent = await startRealParent(
    Object.fromEntries(state.domains.map(({ label }) => [label, NAMESERVERS])),
    { isSigned: true, addresses: NODES.length },
  );
  onEnd(() => parent.stop());
  const known = state.domains.flatMap(({ label, ds }) => (ds === undefined ? [] : [[label, [ds]] as const]));
  if (known.length > 0) await parent.showAllDs(Object.fromEntries(known));

  const { disk, primary, standby, url } = await startPostgresPair(directory, onCrash);
  const redisPort = await freePort();
  const shared = {
    ...parent.settings,
    PATH: PROGRAM_PATH,
    RUN_AS: 'off',
    LOG_LEVEL: 'warn',
    NAMESERVER_SETS: NAMESERVERS.join(),
    PUBLIC_RESOLVERS: 'off',
    KEY_SECRETS: state.keySecrets,
    TSIG_SECRETS: state.tsigSecrets,
  };
  await zonefleet({ ...shared, DATABASE_URL: url }, 'migrate');

  const program = (
    label: string,
    command: readonly string[],
    env: Record<string, string>,
    readyUrl?: string,
  ) =>
    new Supervised({
      label,
      command,
      env: { PATH: PROGRAM_PATH, ...env },
      cwd: ROOT,
      logFile: join(directory, 'logs', `${label}.log`),
      isReady: async () => readyUrl === undefined || (await isOk(readyUrl)),
      onCrash,
    });
  const own = async (label: string, main: string, role: string, env: Record<string, string>) => {
    const metrics = `127.0.0.1:${await freePort()}`;
    const dataDirectory = join(disk.directory, label);
    mkdirSync(dataDirectory, { recursive: true });
    const settings = {
      ...shared,
      DATABASE_URL: asRole(url, role),
      METRICS_LISTEN: metrics,
      DATA_DIR: dataDirectory,
      ...env,
    };
    const command = fleetCommand(main);
    return Object.assign(program(label, command, settings, `http://${metrics}/readyz`), {
      metricsUrl: `http://${metrics}/metrics`,
      dataDirectory,
    });
  };
  const redisCommand = ['redis-server', '--port', String(redisPort), '--bind', '127.0.0.1', '--save', ''];
  const redis = program('redis', [...redisCommand, '--appendonly', 'no'], {});
  redis.start();
  const queue = { REDIS_URL: `redis://127.0.0.1:${redisPort}/0` };
  const apiPorts = [await freePort(), await freePort()];
  const node = (label: NodeLabel) =>
    own(label, 'src/nameserver/main.ts', 'zonefleet_node', {
      NODE_NAME: label,
      DNS_LISTEN: addressesOf(parent.ours, NODES.indexOf(label)),
      DNS_THREADS: '1',
      IMAGE_BYTES: '64M',
      ...(label === STANDBY_READER && { DATABASE_READ_URL: asRole(standby.url, 'zonefleet_node') }),
    });
  const api = (index: number) =>
    own(`api-${index + 1}`, 'src/api/main.ts', 'zonefleet_api', {
      ...queue,
      API_LISTEN: `127.0.0.1:${apiPorts[index]}`,
      API_RATE: 'off',
      CONSOLE: 'off',
      BOOTSTRAP_API_KEY: state.adminKey,
    });
  const workers = (index: number) =>
    own(`workers-${index + 1}`, 'workers/main.ts', 'zonefleet_worker', queue);
  const programs = {
    ns1: await node('ns1'),
    ns2: await node('ns2'),
    ns3: await node('ns3'),
    'api-1': await api(0),
    'api-2': await api(1),
    'workers-1': await workers(0),
    'workers-2': await workers(1),
  };
  // The first process of each kind compiles the program for the others.
  for (const first of ['ns1', 'api-1', 'workers-1'] as const) {
    programs[first].start();
    await untilReady(programs[first]);
  }
  for (const other of ['ns2', 'ns3', 'api-2', 'workers-2'] as const) programs[other].start();
  for (const each of Object.values(programs)) await untilReady(each);

  const rootAddress = /A (\S+)/.exec(parent.rootHints.split('\n')[1] as string)?.[1] as string;
  const unbound = await startUnbound(
    {
      anchors: [readFileSync(parent.settings.TRUST_ANCHORS as string, 'utf8').trim()],
      reached: { root: rootAddress },
    },
    {
      settings: [
        `cache-max-ttl: ${CACHE_SECONDS}`,
        `cache-max-negative-ttl: ${CACHE_SECONDS}`,
        // Nodes that a fault has stopped are tried again soon.
        'infra-host-ttl: 30',
        'infra-keep-probing: yes',
      ],
    },
  );
  onEnd(() => unbound.stop());
  const askers = Object.fromEntries(
    NODES.map((label, i) => [label, new Asker(parent.ours[2 * i]?.address as string, parent.port)]),
  ) as Record<NodeLabel, Asker>;
  const db = openDatabase(url);
  onEnd(() => db.destroy());
  return {
    parent,
    disk,
    primary,
    standby,
    redis,
    programs,
    db,
    askers,
    resolver: new Asker('127.0.0.1', unbound.port),
    owner: new Owner(
      apiPorts.map((port) => `http://127.0.0.1:${port}`),
      state,
    ),
    /** Restarts a node without losing an answer. Returns the pid of the new process. */
    async handOver(label: NodeLabel): Promise<number> {
      const env = { ...shared, DATABASE_URL: url, DATA_DIR: programs[label].dataDirectory };
      const { pid } = JSON.parse(await zonefleet(env, 'node', 'restart', label, '--json'));
      return pid;
    },
    supervised: (target: Target): Supervised | undefined =>
      target === 'redis' ? redis : programs[target as keyof typeof programs],
    /** Ends the programs and keeps the database for the next piece. */
    async close(): Promise<void> {
      await Promise.all(Object.values(programs).map((each) => each.stop()));
      await db.destroy();
      await standby.stop();
      await primary.stop();
      await copyCluster(primary.directory, join(directory, 'state', 'primary'));
    },
  };
}

async function startPostgresPair(directory: string, onCrash: FleetPlan['onCrash']) {
  const disk: Disk = openDisk(join(directory, 'disk'));
  const kept = join(directory, 'state', 'primary');
  const isNew = !existsSync(kept);
  const primary = new PostgresServer(join(disk.directory, 'primary'), (reason) =>
    onCrash('postgres', reason),
  );
  if (!isNew) await copyCluster(kept, primary.directory);
  await primary.start();
  if (isNew) await runOn(primary.url, 'alter system set log_min_messages = error');
  const standby = new PostgresServer(join(directory, 'standby'), (reason) => onCrash('standby', reason));
  await copyPrimary(primary, standby);
  await standby.start();
  return { disk, primary, standby, url: primary.url };
}

/** Runs the command line. Returns what it prints. */
async function zonefleet(env: Record<string, string>, ...args: readonly string[]): Promise<string> {
  const command = ['src/cli/zonefleet.mjs', ...args];
  const { stdout } = await promisify(execFile)(process.execPath, command, { env, cwd: ROOT });
  return stdout;
}

/** The servers trust every user of their sockets. */
function asRole(url: string, role: string): string {
  return url.replace(/^(postgresql:\/\/)[^@]*@/, `$1${role}@`);
}

/** The parent lists each address with its own port and with port 53. */
function addressesOf(ours: readonly { address: string; port: number }[], index: number): string {
  const { address } = ours[index * (ours.length / NODES.length)] as { address: string };
  return ours
    .filter((each) => each.address === address)
    .map(({ port }) => `${address}:${port}`)
    .join();
}

async function untilReady({ label, plan }: Supervised): Promise<void> {
  for (const deadline = performance.now() + START_LIMIT_MS; !(await plan.isReady()); await pause(200))
    if (performance.now() > deadline) throw new Error(`${label} does not become ready: ${plan.logFile}`);
}

async function isOk(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(5000) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

export function newSecret(name: string): string {
  return `${name}:${randomBytes(32).toString('base64')}`;
}
