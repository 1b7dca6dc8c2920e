// Maximum number of open files, including sockets, of this process.

import { readFileSync } from 'node:fs';

/** Returns Infinity if the system does not report it. Node has raised the soft limit to the hard limit at its start. */
export function openFileLimit(): number {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
