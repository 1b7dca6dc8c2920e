// Debian's Postgres with a streaming standby. The primary is on a small file system that can be full.

import { execFile } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type RunningPostgres, startPostgres } from '../../src/start/postgres/postgres.ts';
import { fillDisk, lacksSmallDisk, mountMemory } from '../../test/support/database/small-disk.ts';
import { onEnd } from '../cleanup.ts';
import { processTree } from '../process-tree.ts';

const run = promisify(execFile);

export const DEBIAN_POSTGRES = '/usr/lib/postgresql/15';
const PARAMETERS = {
  shared_buffers: '64MB',
  max_connections: '150',
  max_wal_size: '128MB',
  wal_keep_size: '160MB', // what the standby misses while it is stopped
};
const DISK_MEGABYTES = 768;
/** A server that was killed recovers first; one without disk space cannot start yet. */
const START_TRIES = 60;

/** One of the two servers. It is started again by the fault that ended it. */
export class PostgresServer {
  readonly directory: string;
  #running: RunningPostgres | undefined;
  readonly #onCrash: (reason: string) => void;
  #isWanted = false;
  #hasEnded = true;

  constructor(directory: string, onCrash: (reason: string) => void) {
    this.directory = directory;
    this.#onCrash = onCrash;
    onEnd(() => this.stop());
  }

  get pid(): number | undefined {
    return this.#hasEnded ? undefined : this.#running?.pid;
  }

  get isRunning(): boolean {
    return !this.#hasEnded;
  }

  /** URL of the superuser. It stays the same when the server is started again. */
  get url(): string {
    if (this.#running === undefined) throw new Error(`the server in ${this.directory} does not run`);
    return this.#running.url;
  }

  async start(): Promise<void> {
    this.#isWanted = true;
    for (let tries = START_TRIES; ; tries--) {
      try {
        this.#running = await startPostgres({
          directory: this.directory,
          binaries: { directory: DEBIAN_POSTGRES },
          parameters: PARAMETERS,
        });
        break;
      } catch (error) {
        if (tries === 1) throw error;
        await pause(1000);
      }
    }
    this.#hasEnded = false;
    void this.#running.exited.then((reason) => {
      this.#hasEnded = true;
      if (this.#isWanted) this.#onCrash(reason);
    });
  }

  async stop(): Promise<void> {
    this.#isWanted = false;
    this.thaw();
    await this.#running?.stop();
  }

  async kill(): Promise<void> {
    this.#isWanted = false;
    if (this.#running === undefined) return;
    process.kill(this.#running.pid, 'SIGKILL');
    await this.#running.exited;
  }

  freeze(): void {
    this.#signal('SIGSTOP');
  }

  thaw(): void {
    this.#signal('SIGCONT');
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.#running === undefined) return;
    for (const pid of processTree(this.#running.pid))
      try {
        process.kill(pid, signal);
      } catch {
        // it has just ended
      }
  }
}

/** Replaces the standby's data with a copy of the primary's. */
export async function copyPrimary(primary: PostgresServer, standby: PostgresServer): Promise<void> {
  rmSync(standby.directory, { recursive: true, force: true });
  mkdirSync(standby.directory, { recursive: true, mode: 0o711 });
  const cluster = join(standby.directory, 'cluster');
  await run(join(DEBIAN_POSTGRES, 'bin/pg_basebackup'), [
    ...['-d', primary.url, '-D', cluster],
    ...['-R', '-X', 'stream', '-c', 'fast'],
  ]);
  const { uid, gid } = statSync(join(primary.directory, 'cluster'));
  if (process.getuid?.() === 0) await run('chown', ['-R', `${uid}:${gid}`, cluster]);
}

export interface Disk {
  readonly directory: string;
  readonly canFill: boolean;
  fill(): void;
  clear(): void;
}

/** Mounts a small file system in memory, as root. Otherwise returns an ordinary directory, which cannot be full. */
export function openDisk(directory: string): Disk {
  mkdirSync(directory, { recursive: true, mode: 0o755 });
  const canFill = lacksSmallDisk() === undefined;
  if (canFill) onEnd(mountMemory(directory, DISK_MEGABYTES));
  const ballast = join(directory, 'ballast');
  return {
    directory,
    canFill,
    fill: () => fillDisk(ballast),
    clear: () => rmSync(ballast, { force: true }),
  };
}

/** Moves the cluster of a stopped server between the memory file system and the disk. */
export async function copyCluster(from: string, to: string): Promise<void> {
  if (!existsSync(join(from, 'cluster'))) throw new Error(`${from} has no cluster`);
  rmSync(to, { recursive: true, force: true });
  mkdirSync(to, { recursive: true, mode: 0o711 });
  await run('cp', ['-a', join(from, 'cluster'), join(to, 'cluster')]);
  const { uid, gid } = statSync(join(from, 'cluster'));
  chownSync(join(to, 'cluster'), uid, gid);
}
