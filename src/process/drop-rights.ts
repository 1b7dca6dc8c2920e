// Gives up root's rights once the sockets are bound. For the whole process: the C library changes all its threads, and those
// that start later inherit it. The kernel then also hides its memory and environment from other processes of that user.

import { readdirSync, readFileSync } from 'node:fs';
import type { ProcessUser } from './run-as.ts';
import { StartFault } from './start-fault.ts';

interface Log {
  warn(fields: object, message: string): void;
  debug(fields: object, message: string): void;
}

/** For good: no thread has root's rights afterwards, or this throws. Without `user` the process stays as it is. */
export function dropRights(user: ProcessUser | undefined, log: Log): void {
  if (user === undefined) {
    if (process.getuid?.() === 0) log.warn({}, STAYS_ROOT);
    return;
  }
  process.chdir('/'); // later threads run a compiler where we are, which may be root's home
  try {
    process.setgroups?.([]);
    process.setgid?.(user.gid);
    process.setuid?.(user.uid);
  } catch (error) {
    const { message } = error as Error;
    throw new StartFault(`RUN_AS: cannot become uid ${user.uid}, gid ${user.gid}: ${message}`);
  }
  const left = threadsOfRoot();
  if (left > 0 || process.getuid?.() === 0) throw new Error(`RUN_AS: ${left} threads are still root's`);
  log.debug(user, 'the rights of root are given up');
}

const STAYS_ROOT = 'RUN_AS is off: this process keeps the rights of root, and so does whoever breaks into it';

function threadsOfRoot(): number {
  if (process.platform !== 'linux') return 0;
  return readdirSync('/proc/self/task').filter((task) => /^[UG]id:.*\t0\b/m.test(statusOf(task))).length;
}

function statusOf(task: string): string {
  try {
    return readFileSync(`/proc/self/task/${task}/status`, 'utf8');
  } catch {
    return ''; // it has ended
  }
}
