// Whether one generation of nginx's workers is alone: after a reload the old ones take connections until they are told to leave, so the
// answer of one worker says nothing of the next.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const LEAVES = 'nginx: worker process is shutting down';
/** Processes of nginx that answer nobody. */
const OTHERS = 'nginx: cache ';

/**
 * The master starts all workers of a generation before it tells those of the last one to leave, so while both take connections there are
 * more than `worker_processes auto` has. One that has just been forked counts, under whatever title.
 */
export function isOneGeneration(master: number): boolean {
  const children = read(`/proc/${master}/task/${master}/children`).trim().split(' ').filter(Boolean);
  const taking = children.filter((pid) => {
    const title = read(`/proc/${pid}/cmdline`);
    return title !== '' && !title.startsWith(LEAVES) && !title.startsWith(OTHERS);
  });
  return taking.length === processors();
}

/** As nginx counts them. */
function processors(): number {
  return Number(execFileSync('getconf', ['_NPROCESSORS_ONLN'], { encoding: 'utf8' }));
}

/** Empty: the process has ended. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
