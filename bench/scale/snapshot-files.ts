// The snapshot of a node, seen from outside: files in its data directory.

import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { runToEnd } from '../program.ts';

interface Place {
  readonly path: string;
  readonly bytes: number;
}

/** Smaller files contain no zones. */
const LEAST_BYTES = 4096;
const POLL_MS = 500;
/** Number of consecutive polls that must find the same sizes. */
const STABLE_LOOKS = 6;

function filesIn(dataDirectory: string): Place[] {
  try {
    return readdirSync(join(dataDirectory, 'nodes'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => ({ path, bytes: statSync(path).size }));
  } catch {
    return []; // none yet, or one was renamed meanwhile
  }
}

/** Returns the bytes of the files when they no longer grow. Returns undefined if there are none in time. */
export async function untilSnapshotWritten(
  dataDirectory: string,
  timeoutMs: number,
): Promise<number | undefined> {
  const deadline = performance.now() + timeoutMs;
  let before = '';
  for (let stable = 0; performance.now() < deadline; await pause(POLL_MS)) {
    const files = filesIn(dataDirectory);
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    const now = JSON.stringify(files);
    stable = now === before && bytes >= LEAST_BYTES ? stable + 1 : 0;
    before = now;
    if (stable === STABLE_LOOKS) return bytes;
  }
  return undefined;
}

/** Removes only these files from the page cache, so that the next start reads them from disk. */
export async function forgetPages(dataDirectory: string): Promise<void> {
  await runToEnd(['sync', '-f', dataDirectory], { timeoutMs: 60_000 });
  for (const { path } of filesIn(dataDirectory)) {
    await runToEnd(['dd', `if=${path}`, 'iflag=nocache', 'count=0'], { timeoutMs: 60_000 });
  }
}
