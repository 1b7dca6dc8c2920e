// A file system of a few megabytes in memory that can really be full, as a tablespace of a Postgres of this machine.

import { execFileSync } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
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
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'none', directory], { stdio: 'ignore' });
    execFileSync('umount', [directory], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'leave to mount a tmpfs';
  } finally {
    rmdirSync(directory);
  }
}

export function mountSmallDisk(cluster: string, megabytes: number): SmallDisk {
  const directory = mkdtempSync(join(tmpdir(), 'zonefleet-disk-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=755`, 'none', directory]);
  const tablespace = join(directory, 'tablespace');
  const ballast = join(directory, 'ballast');
  mkdirSync(tablespace);
  const { uid, gid } = statSync(cluster);
  chownSync(tablespace, uid, gid);
  return {
    tablespace,
    fill() {
      for (const octets of [1024 * 1024, 4096])
        try {
          for (;;) writeFileSync(ballast, Buffer.alloc(octets), { flag: 'a' });
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
        }
    },
    clear: () => rmSync(ballast, { force: true }),
    remove() {
      execFileSync('umount', ['-l', directory]);
      rmdirSync(directory);
    },
  };
}
