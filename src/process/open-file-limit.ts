// How many files, sockets among them, this process may have open.

import { readFileSync } from 'node:fs';

/** Infinite where the system does not say. Node has raised the soft limit to the hard one when it started. */
export function openFileLimit(): number {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
