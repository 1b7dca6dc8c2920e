// Gives up root's privileges once the sockets are bound. This applies to the whole process: the C library changes all of
// its threads, and later ones inherit it. The kernel then also hides the process's memory and environment from other
// processes of that user.

import { readdirSync, readFileSync } from 'node:fs';
import type { ProcessUser } from './run-as.ts';
import { StartFault } from './start-fault.ts';

interface Log {
  warn(fields: object, message: string): void;
  debug(fields: object, message: string): void;
}

/** Permanent: afterwards no thread has root's privileges, or this throws. Without `user`, the process does not change. */
export function dropRights(user: ProcessUser | undefined, log: Log): void {
  if (user === undefined) {
    if (process.getuid?.() === 0) log.warn({}, STAYS_ROOT);
    return;
  }
  process.chdir('/'); // later threads run a compiler in the current directory, which may be root's home
  try {
    process.setgroups?.([]);
    process.setgid?.(user.gid);
    process.setuid?.(user.uid);
  } catch (error) {
    const { message } = error as Error;
    throw new StartFault(`RUN_AS: cannot become uid ${user.uid}, gid ${user.gid}: ${message}`);
  }
  const left = threadsOfRoot();
  if (left > 0 || process.getuid?.() === 0) throw new Error(`RUN_AS: ${left} threads still run as root`);
  log.debug(user, 'root privileges were dropped');
}

const STAYS_ROOT =
  'RUN_AS is off: this process keeps root privileges, and an attacker who takes it over gets them too';

function threadsOfRoot(): number {
  if (process.platform !== 'linux') return 0;
  return readdirSync('/proc/self/task').filter((task) => /^[UG]id:.*\t0\b/m.test(statusOf(task))).length;
}

function statusOf(task: string): string {
  try {
    return readFileSync(`/proc/self/task/${task}/status`, 'utf8');
  } catch {
    return ''; // the thread has ended
  }
}
