// Starts our own Postgres server in a directory, accessible through a Unix socket that only its user and root can reach. A
// postmaster left by a killed run is ended first.

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { StartFault } from '../../process/start-fault.ts';
import { type Claim, claim } from './claim.ts';
import { lockAccess, openToGroup } from './postgres-access.ts';
import { embeddedBinaries, majorOf, type PostgresBinaries, placeBinaries } from './postgres-binaries.ts';
import {
  checkMajor,
  createCluster,
  makePrivateDirectory,
  POSTGRES_ENVIRONMENT,
  SUPERUSER,
} from './postgres-cluster.ts';
import { checkEnterable, type PostgresUser, postgresUser } from './postgres-user.ts';
import { endPostmaster, guardPostmaster, readPidFile, stopOrphan } from './postmaster.ts';

export interface PostgresOptions {
  /** Contains the cluster, the socket and the log. Created if missing. */
  directory: string;
  binaries?: PostgresBinaries;
  parameters?: Record<string, string>;
  /** Also listens on 127.0.0.1 without a password. Only for test clusters. */
  tcpPort?: number;
  /**
   * Requires passwords, and lets this group access the socket if root starts it. Default: all users that can access the
   * socket are trusted.
   */
  locked?: { readonly gid: number | undefined };
  /** Aborts a start in progress. A running server is ended only by `stop`. */
  signal?: AbortSignal;
}

export interface RunningPostgres {
  /** URL of the superuser and the database `zonefleet`. */
  readonly url: string;
  readonly socketDirectory: string;
  readonly pid: number;
  /** Resolves when the server has ended, with the reason. Without `stop`, this means that it crashed. */
  readonly exited: Promise<string>;
  stop(): Promise<void>;
}

const PARAMETERS = {
  max_connections: '200',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_line_prefix: '%m [%p] ',
  cluster_name: 'zonefleet',
  jit: 'off',
};
const SOCKET_NAME = '.s.PGSQL.65535'; // the longest
const MAX_SOCKET_PATH = process.platform === 'linux' ? 107 : 103;
const MAX_LOG_BYTES = 10 * 1024 * 1024;
const READY_TIMEOUT_MS = 120_000; // includes crash recovery, which may take long
const CLAIM_TIMEOUT_MS = 4000;
const LEFTOVER_TIMEOUT_MS = 60_000; // they end as soon as they get CPU time

/** The cluster's own directory, which Postgres calls its data directory. */
function clusterOf(directory: string): string {
  return join(resolve(directory), 'cluster');
}

export async function startPostgres(options: PostgresOptions): Promise<RunningPostgres> {
  const directory = resolve(options.directory);
  mkdirSync(directory, { recursive: true, mode: 0o711 });
  const held = await claimPatiently(directory);
  try {
    return await startClaimed(directory, options, held);
  } catch (error) {
    held.release();
    throw error;
  }
}

/** Waits for a previous owner that is still ending because its npm was killed. */
async function claimPatiently(directory: string): Promise<Claim> {
  for (const deadline = Date.now() + CLAIM_TIMEOUT_MS; ; ) {
    try {
      return claim(join(directory, 'claim'), `the database in ${directory}`);
    } catch (error) {
      if (!(error instanceof StartFault) || Date.now() > deadline) throw error;
      await pause(100);
    }
  }
}

async function startClaimed(
  directory: string,
  options: PostgresOptions,
  held: Claim,
): Promise<RunningPostgres> {
  const cluster = clusterOf(directory);
  const user = postgresUser(cluster);
  if (user.uid !== undefined) chmodSync(directory, statSync(directory).mode | 0o011);
  checkEnterable(directory, user);
  const binaries = options.binaries ?? embeddedBinaries();
  const bin = join(placeBinaries(binaries, user, directory), 'bin');
  const major = majorOf(binaries);
  checkMajor(cluster, major);
  await stopOrphan(cluster);
  if (!existsSync(cluster)) {
    await createCluster({ bin, cluster, major, user, sync: options.parameters?.fsync !== 'off' });
  }
  const access = options.locked && (await lockAccess({ directory, cluster, bin, user }));
  const socketDirectory = prepareSocketDirectory(directory, user);
  const guests = user.uid === undefined ? undefined : options.locked?.gid;
  if (guests !== undefined) openToGroup(socketDirectory, guests);
  const port = String(options.tcpPort ?? 5432); // also names the socket
  const log = join(directory, 'postgres.log');
  const parameters = {
    ...PARAMETERS,
    listen_addresses: options.tcpPort === undefined ? '' : '127.0.0.1',
    port,
    unix_socket_directories: socketDirectory,
    unix_socket_permissions: guests === undefined ? '0700' : '0777', // access is controlled by the directory
    ...access?.parameters,
    ...options.parameters,
  };
  const postmaster = await launch({ bin, cluster, log, user, parameters, signal: options.signal });
  const rotation = setInterval(() => truncateLog(log), 60_000);
  rotation.unref();
  const exited = postmaster.exited.then((reason) => {
    clearInterval(rotation);
    held.release();
    return reason;
  });
  return {
    url: `postgresql://${SUPERUSER}${access ? `:${access.password}` : ''}@/zonefleet?host=${encodeURIComponent(socketDirectory)}&port=${port}`,
    socketDirectory,
    pid: postmaster.pid,
    exited,
    async stop() {
      await endPostmaster(postmaster.pid);
      await exited;
    },
  };
}

interface Launch {
  readonly bin: string;
  readonly cluster: string;
  readonly log: string;
  readonly user: PostgresUser;
  readonly parameters: Record<string, string>;
  readonly signal: AbortSignal | undefined;
}

interface Postmaster {
  readonly pid: number;
  readonly exited: Promise<string>;
}

/** Starts the postmaster and waits until it accepts connections. */
async function launch(options: Launch): Promise<Postmaster> {
  const leftoverDeadline = Date.now() + LEFTOVER_TIMEOUT_MS;
  for (;;) {
    truncateLog(options.log);
    const logStart = statSync(options.log, { throwIfNoEntry: false })?.size ?? 0;
    const postmaster = spawnPostmaster(options);
    const ended = await becomeReady(options, postmaster);
    if (ended === undefined) return postmaster;
    const said = readFileSync(options.log).subarray(logStart).toString();
    // Backends of a just killed postmaster still hold its memory, and are about to end.
    if (/shared memory block .* is still in use/.test(said) && Date.now() < leftoverDeadline) {
      await pause(100);
      continue;
    }
    const fault = /(?:FATAL|PANIC): .*/.exec(said)?.[0] ?? said.trim().slice(-500);
    const reason = /could not bind .*|could not create lock file .*/.exec(said)?.[0];
    throw new StartFault(`Postgres did not start (${ended}): ${reason ?? fault} (log: ${options.log})`);
  }
}

function spawnPostmaster({ bin, cluster, log, user, parameters }: Launch): Postmaster {
  const settings = Object.entries(parameters).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const output = openSync(log, 'a', 0o640);
  const child = spawn(join(bin, 'postgres'), ['-D', cluster, ...settings], {
    cwd: '/',
    detached: true, // ignores the terminal's signals: the supervisor stops it last
    env: POSTGRES_ENVIRONMENT,
    stdio: ['ignore', output, output],
    ...user,
  });
  closeSync(output);
  const exited = new Promise<string>((done) => {
    child.on('error', (error) => done(error.message));
    child.on('exit', (code, signal) => done(signal ?? `exit code ${code}`));
  });
  if (child.pid === undefined) return { pid: 0, exited };
  const guard = guardPostmaster(child.pid, user);
  void exited.then(() => guard.dismiss());
  return { pid: child.pid, exited };
}

/** Returns undefined once the postmaster accepts connections, or the reason why it ended. */
async function becomeReady({ cluster, signal }: Launch, postmaster: Postmaster): Promise<string | undefined> {
  let ended: string | undefined;
  void postmaster.exited.then((reason) => {
    ended = reason;
  });
  const deadline = Date.now() + READY_TIMEOUT_MS;
  while (Date.now() < deadline && !signal?.aborted) {
    await pause(5);
    if (ended !== undefined) return ended;
    const file = readPidFile(cluster);
    if (file?.pid === postmaster.pid && file.ready) return undefined;
  }
  await endPostmaster(postmaster.pid);
  return signal?.aborted ? 'cancelled' : `not ready within ${READY_TIMEOUT_MS / 1000} s`;
}

/** Returns `<directory>/run`, or a short path in the temporary directory if that path is too long for a socket. */
function prepareSocketDirectory(directory: string, user: PostgresUser): string {
  const uid = user.uid ?? process.getuid?.() ?? 0;
  const hash = createHash('sha256').update(directory).digest('hex').slice(0, 12);
  const places = [join(directory, 'run'), join(tmpdir(), `zf-${uid}-${hash}`), `/tmp/zf-${uid}-${hash}`];
  const place = places.find(
    (path) => Buffer.byteLength(join(path, SOCKET_NAME)) <= MAX_SOCKET_PATH,
  ) as string;
  if (!existsSync(place)) makePrivateDirectory(place, user);
  const found = lstatSync(place); // all users can write to /tmp: another user may have created this
  if (!found.isDirectory() || found.uid !== uid || (found.mode & 0o067) !== 0) {
    throw new StartFault(`${place} is not a directory with owner ${uid} and mode 0700: remove it`);
  }
  for (const name of readdirSync(place)) {
    if (name.startsWith('.s.PGSQL.')) rmSync(join(place, name)); // left by a killed run: the claim is ours
  }
  return place;
}

/** Keeps one old part. The postmaster's descriptor appends, so it continues at the start of the emptied file. */
function truncateLog(log: string): void {
  if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) < MAX_LOG_BYTES) return;
  copyFileSync(log, `${log}.1`);
  truncateSync(log);
}
