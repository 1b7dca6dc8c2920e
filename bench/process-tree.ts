// Total CPU time and memory of a server's processes, from /proc.

import { readdirSync, readFileSync } from 'node:fs';

const TICKS_PER_SECOND = 100; // USER_HZ, which Linux shows to every program

interface Stat {
  readonly pid: number;
  readonly parent: number;
  readonly cpuSeconds: number;
}

/** A process and all below it. */
export function processTree(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const entry of readdirSync('/proc')) {
    const stat = /^\d+$/.test(entry) ? readStat(`/proc/${entry}`) : undefined;
    if (stat === undefined) continue;
    const siblings = children.get(stat.parent);
    if (siblings === undefined) children.set(stat.parent, [stat.pid]);
    else siblings.push(stat.pid);
  }
  const tree: number[] = [];
  for (const waiting = [root]; waiting.length > 0; ) {
    const pid = waiting.pop() as number;
    tree.push(pid);
    waiting.push(...(children.get(pid) ?? []));
  }
  return tree;
}

/** User and system time, also of processes below it that have ended. */
export function cpuSeconds(root: number): number {
  return processTree(root)
    .map((pid) => readStat(`/proc/${pid}`)?.cpuSeconds ?? 0)
    .reduce((sum, seconds) => sum + seconds, 0);
}

/** Returns the proportional set size, in which a page mapped by several processes counts once. */
export function pssBytes(root: number): number {
  return processTree(root)
    .map((pid) => readPss(pid))
    .reduce((sum, bytes) => sum + bytes, 0);
}

/** Returns the largest proportional set size of a single process. */
export function largestPssBytes(root: number): number {
  return Math.max(...processTree(root).map(readPss));
}

/** Use of a process without those below it. */
export function ownUse(pid: number): { readonly pssBytes: number; readonly cpuSeconds: number } {
  return { pssBytes: readPss(pid), cpuSeconds: readStat(`/proc/${pid}`)?.cpuSeconds ?? 0 };
}

function readPss(pid: number): number {
  try {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
    return Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

function readStat(place: string): Stat | undefined {
  let text: string;
  try {
    text = readFileSync(`${place}/stat`, 'utf8');
  } catch {
    return undefined; // it has just ended
  }
  // The command may contain spaces and parentheses, so fields are counted after it.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return {
    pid: Number.parseInt(text, 10),
    parent: Number(fields[1]),
    // Its own time, and that of the children it waited for.
    cpuSeconds: fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND,
  };
}
