// The processes of one Postgres server: finds the owner of a cluster, ends it, and guards it in case we are killed.

import { execFileSync, spawn } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { PostgresUser } from './postgres-user.ts';

/**
 * Fast shutdown, then immediate (the next start recovers), then SIGKILL. `npm start` has 5 s to stop in total. After
 * SIGKILL a process ends once it gets CPU time, which may take long on a busy machine.
 */
const SHUTDOWN: readonly (readonly [NodeJS.Signals, number])[] = [
  ['SIGINT', 2000],
  ['SIGQUIT', 1000],
  ['SIGKILL', 60_000],
];

/** Parses `postmaster.pid`. Its eighth line is `ready` once connections are accepted. */
export function readPidFile(cluster: string): { pid: number; ready: boolean } | undefined {
  try {
    const lines = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n');
    const pid = Number(lines[0]);
    return pid > 0 ? { pid, ready: lines[7]?.trim() === 'ready' } : undefined;
  } catch {
    return undefined;
  }
}

/** Ends the postmaster that a killed run left on this cluster, so that there are never two. */
export async function stopOrphan(cluster: string): Promise<void> {
  const left = readPidFile(cluster);
  if (left === undefined) return;
  const file = join(cluster, 'postmaster.pid');
  if (isAlive(left.pid)) {
    const command = commandOf(left.pid);
    if (command.includes(cluster) || workingDirectoryOf(left.pid) === realpathSync(cluster)) {
      await endPostmaster(left.pid);
    } else if (!command.includes('postgres')) {
      rmSync(file, { force: true }); // the pid now belongs to another program, which Postgres would mistake for a postmaster
    }
  }
  if (!isAlive(left.pid)) endBackends(cluster);
  // In a container, orphans may never be reaped. Postgres mistakes the zombie for a live postmaster. First its backends,
  // which detect that it has ended, must have released its memory.
  if (isZombie(left.pid) && (await isMemoryReleased(file))) rmSync(file, { force: true });
}

/** Ends hanging backends that have not noticed the end of their postmaster: they still hold the cluster's memory. */
function endBackends(cluster: string): void {
  if (process.platform !== 'linux') return;
  const directory = realpathSync(cluster);
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry);
    if (!(pid > 0) || workingDirectoryOf(pid) !== directory) continue;
    if (commandOf(pid).startsWith('postgres')) sendSignal(pid, 'SIGKILL');
  }
}

/** True if within 30 s no process is attached to the shared memory listed in the seventh line of `postmaster.pid`. */
async function isMemoryReleased(file: string): Promise<boolean> {
  const [key, id] = readOr(file).split('\n')[6]?.trim().split(/\s+/) ?? [];
  for (const deadline = Date.now() + 30_000; Date.now() < deadline; await pause(20)) {
    const segments = readOr('/proc/sysvipc/shm').split('\n');
    const fields = segments
      .map((line) => line.trim().split(/\s+/))
      .find((row) => row[0] === key && row[1] === id);
    if (fields === undefined || fields[6] === '0') return true;
  }
  return false;
}

export async function endPostmaster(pid: number): Promise<void> {
  for (const [signal, waitMs] of SHUTDOWN) {
    // A hanging backend does not notice the end of its postmaster, and would block the cluster's memory.
    const backends = signal === 'SIGKILL' ? childrenOf(pid) : [];
    if (!sendSignal(pid, signal)) return;
    for (const backend of backends) sendSignal(backend, signal);
    const deadline = Date.now() + waitMs;
    while (Date.now() < deadline) {
      await pause(10);
      if (!isAlive(pid) && !backends.some(isAlive)) return;
    }
  }
  throw new Error(`Postgres (process ${pid}) does not end`);
}

/**
 * Starts a shell that waits on a pipe that only we hold. When we die for any reason, it reads the end of the pipe and shuts
 * the postmaster down. A line in the pipe dismisses it.
 */
export function guardPostmaster(pid: number, user: PostgresUser): { dismiss(): void } {
  const script = 'read -r _ || kill -INT "$1"';
  const guard = spawn('/bin/sh', ['-c', script, 'zonefleet-postgres-guard', String(pid)], {
    cwd: '/',
    detached: true, // ignores the terminal's signals: Ctrl-C is only for the supervisor
    stdio: ['pipe', 'ignore', 'ignore'],
    ...user,
  });
  guard.on('error', () => {}); // no shell: the next start ends the orphan
  guard.stdin.on('error', () => {});
  return { dismiss: () => guard.stdin.end('dismissed\n') };
}

function childrenOf(pid: number): number[] {
  return readOr(`/proc/${pid}/task/${pid}/children`).trim().split(/\s+/).filter(Boolean).map(Number);
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function isZombie(pid: number): boolean {
  return /^State:\s*Z/m.test(readOr(`/proc/${pid}/status`));
}

function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

function commandOf(pid: number): string {
  const command = readOr(`/proc/${pid}/cmdline`).replaceAll('\0', ' ');
  if (command !== '' || process.platform === 'linux') return command;
  try {
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
  } catch {
    return '';
  }
}

function workingDirectoryOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`); // a postmaster's working directory is its cluster
  } catch {
    return undefined;
  }
}

function readOr(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
