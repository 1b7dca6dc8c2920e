// A small file system in memory that can really be full, also as a tablespace of a Postgres of this machine.

import { execFileSync } from 'node:child_process';
import { appendFileSync, chownSync, mkdirSync, mkdtempSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface SmallDisk {
  /** Owned by the owner of the cluster. */
  readonly tablespace: string;
  fill(): void;
  clear(): void;
  remove(): void;
}

/** Returns undefined if this machine can have one, otherwise the reason. */
export function lacksSmallDisk(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'root on Linux';
  const directory = mkdtempSync(join(tmpdir(), 'zonefleet-disk-'));
  try {
    mountMemory(directory, 1)();
    return undefined;
  } catch {
    return 'leave to mount a tmpfs';
  } finally {
    rmdirSync(directory);
  }
}

/** Mounts a file system in memory. Returns a function that unmounts it. */
export function mountMemory(directory: string, megabytes: number): () => void {
  const options = `size=${megabytes}m,mode=755`;
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'none', directory], { stdio: 'pipe' });
  return () => void execFileSync('umount', ['-l', directory]);
}

/** Appends to the file until its file system is full. */
export function fillDisk(file: string): void {
  for (const octets of [1 << 20, 4096])
    try {
      for (;;) appendFileSync(file, Buffer.alloc(octets, ' '));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
}

export function mountSmallDisk(cluster: string, megabytes: number): SmallDisk {
  const directory = mkdtempSync(join(tmpdir(), 'zonefleet-disk-'));
  const unmount = mountMemory(directory, megabytes);
  const tablespace = join(directory, 'tablespace');
  const ballast = join(directory, 'ballast');
  mkdirSync(tablespace);
  const { uid, gid } = statSync(cluster);
  chownSync(tablespace, uid, gid);
  return {
    tablespace,
    fill: () => fillDisk(ballast),
    clear: () => rmSync(ballast, { force: true }),
    remove() {
      unmount();
      rmdirSync(directory);
    },
  };
}
