// The processes of one Postgres server: which one has a cluster, ending it, and the guard that ends it when we are killed.

import { execFileSync, spawn } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { PostgresUser } from './postgres-user.ts';

/**
 * Fast shutdown, then immediate (the next start recovers), then by force. `npm start` has 5 s to stop in all. After SIGKILL
 * a process ends as soon as it gets a CPU, which takes long on a machine that has too much to do.
 */
const SHUTDOWN: readonly (readonly [NodeJS.Signals, number])[] = [
  ['SIGINT', 2000],
  ['SIGQUIT', 1000],
  ['SIGKILL', 60_000],
];

/** What `postmaster.pid` says; its eighth line is `ready` once connections are accepted. */
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
      rmSync(file, { force: true }); // the pid is another program's by now; Postgres would take it for a postmaster
    }
  }
  if (!isAlive(left.pid)) endBackends(cluster);
  // In a container nobody may reap an orphan. Postgres takes the zombie for a live postmaster, but first its backends,
  // which see that it is gone, must have left its memory.
  if (isZombie(left.pid) && (await isMemoryReleased(file))) rmSync(file, { force: true });
}

/** Those whose postmaster is gone and that hang, so that they do not see it: they still hold the cluster's memory. */
function endBackends(cluster: string): void {
  if (process.platform !== 'linux') return;
  const directory = realpathSync(cluster);
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry);
    if (!(pid > 0) || workingDirectoryOf(pid) !== directory) continue;
    if (commandOf(pid).startsWith('postgres')) sendSignal(pid, 'SIGKILL');
  }
}

/** Whether nothing is attached to the shared memory that `postmaster.pid` names in its seventh line, within 30 s. */
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
    // A backend that hangs does not see its postmaster go, and would keep the cluster's memory from the next one.
    const backends = signal === 'SIGKILL' ? childrenOf(pid) : [];
    if (!sendSignal(pid, signal)) return;
    for (const backend of backends) sendSignal(backend, signal);
    const deadline = Date.now() + waitMs;
    while (Date.now() < deadline) {
      await pause(10);
      if (!isAlive(pid) && !backends.some(isAlive)) return;
    }
  }
  throw new Error(`the Postgres with pid ${pid} does not end`);
}

/**
 * A shell that waits on a pipe which only we hold: when we die, whatever the way, it reads the end of the pipe and
 * shuts the postmaster down. A line in the pipe dismisses it.
 */
export function guardPostmaster(pid: number, user: PostgresUser): { dismiss(): void } {
  const script = 'read -r _ || kill -INT "$1"';
  const guard = spawn('/bin/sh', ['-c', script, 'zonefleet-postgres-guard', String(pid)], {
    cwd: '/',
    detached: true, // out of the terminal's reach: Ctrl-C is for the supervisor alone
    stdio: ['pipe', 'ignore', 'ignore'],
    ...user,
  });
  guard.on('error', () => {}); // no shell: the next start finds the orphan
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
    return readlinkSync(`/proc/${pid}/cwd`); // a postmaster works in its cluster
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
