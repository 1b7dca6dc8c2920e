// The space of the file system that holds the snapshot.

import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';

interface DiskSpace {
  /** Bytes that this user can still write. */
  readonly free: number;
  readonly total: number;
}

/**
 * Returns a function that reads the space of the directory's file system. Concurrent calls share one read, so that a
 * hanging file system blocks only one thread of the process.
 */
export function diskSpaceOf(directory: string): () => Promise<DiskSpace | undefined> {
  let reading: Promise<DiskSpace | undefined> | undefined;
  return () => {
    reading ??= readSpace(directory).finally(() => {
      reading = undefined;
    });
    return reading;
  };
}

/** Returns undefined if the space cannot be read. Reads the parent's if the directory does not exist yet. */
async function readSpace(directory: string): Promise<DiskSpace | undefined> {
  try {
    const { bsize, bavail, blocks } = await statfs(directory);
    return { free: bavail * bsize, total: blocks * bsize };
  } catch (error) {
    const parent = dirname(directory);
    const isAbsent = (error as NodeJS.ErrnoException).code === 'ENOENT';
    return isAbsent && parent !== directory ? await readSpace(parent) : undefined;
  }
}
