// Measures every program: memory, descriptors, processor time.

import { readdirSync } from 'node:fs';
import { cpuSeconds, ownUse, pssBytes } from '../process-tree.ts';
import type { Fleet } from './fleet.ts';

export interface ProcessSample {
  readonly pid: number;
  readonly pssBytes: number;
  readonly descriptors: number;
  readonly cpuSeconds: number;
}

/** The servers that consist of several processes. */
const TREES = ['postgres', 'standby'];

/** Programs that do not run at the moment are missing. */
export function sampleFleet(fleet: Fleet): Record<string, ProcessSample> {
  const programs: readonly (readonly [string, number | undefined])[] = [
    ...Object.entries(fleet.programs).map(([label, { pid }]) => [label, pid] as const),
    ['redis', fleet.redis.pid],
    ['postgres', fleet.primary.pid],
    ['standby', fleet.standby.pid],
    ['soak', process.pid],
  ];
  return Object.fromEntries(
    programs.flatMap(([label, pid]) => {
      if (pid === undefined) return [];
      const use = TREES.includes(label)
        ? { pssBytes: pssBytes(pid), cpuSeconds: cpuSeconds(pid) }
        : ownUse(pid);
      // Without memory, it has just ended.
      return use.pssBytes === 0 ? [] : [[label, { pid, ...use, descriptors: descriptorsOf(pid) }]];
    }),
  );
}

function descriptorsOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return 0;
  }
}
