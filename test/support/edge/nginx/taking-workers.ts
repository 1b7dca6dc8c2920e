// Detects if only one generation of nginx workers is running. After a reload, the old workers accept connections until they
// are notified, so the response of one worker says nothing about the next.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const LEAVES = 'nginx: worker process is shutting down';
/** Processes of nginx that do not serve requests. */
const OTHERS = 'nginx: cache ';

/**
 * The master starts all workers of a generation before it notifies the old ones, so there are more than `worker_processes
 * auto` workers while both accept connections. A forked process counts under any title.
 */
export function isOneGeneration(master: number): boolean {
  const children = read(`/proc/${master}/task/${master}/children`).trim().split(' ').filter(Boolean);
  const taking = children.filter((pid) => {
    const title = read(`/proc/${pid}/cmdline`);
    return title !== '' && !title.startsWith(LEAVES) && !title.startsWith(OTHERS);
  });
  return taking.length === processors();
}

/** Counted like in nginx. */
function processors(): number {
  return Number(execFileSync('getconf', ['_NPROCESSORS_ONLN'], { encoding: 'utf8' }));
}

/** Returns an empty text if the process has ended. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
