// Time during which one core was busy, including interrupts, which no process is charged for.

import { readFileSync } from 'node:fs';

const TICKS_PER_SECOND = 100;
/** Columns of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal. */
const BUSY = [0, 1, 2, 5, 6];

/** Returns the busy time of a core since the system's start. */
export function coreBusySeconds(core: number): number {
  const line = readFileSync('/proc/stat', 'utf8')
    .split('\n')
    .find((each) => each.startsWith(`cpu${core} `));
  const ticks = (line ?? '').split(/\s+/).slice(1).map(Number);
  return BUSY.reduce((sum, column) => sum + (ticks[column] ?? 0), 0) / TICKS_PER_SECOND;
}
