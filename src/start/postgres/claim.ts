// Ensures one owner per directory: a claim file contains the pid of the process that uses it. A pid alone proves nothing
// after a kill -9, because pids are reused, so the claim also contains the process's start time.

import { execFileSync } from 'node:child_process';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { StartFault } from '../../process/start-fault.ts';

export interface Claim {
  release(): void;
}

/** Claims `file` for this process, or throws an error that names the live process that has it. */
export function claim(file: string, subject: string): Claim {
  const mine = `${process.pid} ${startOf(process.pid)}\n`;
  const prepared = `${file}.${process.pid}`;
  writeFileSync(prepared, mine);
  try {
    for (let attempt = 0; attempt < 10; attempt++) {
      if (link(prepared, file)) return { release: () => releaseIf(file, mine) };
      const owner = read(file);
      if (owner === undefined) continue;
      const [pid = '', start] = owner.trim().split(' ');
      if (start !== undefined && startOf(Number(pid)) === start) {
        throw new StartFault(`${subject} is in use by process ${pid}: stop that process first`);
      }
      putAside(file, owner);
    }
  } finally {
    rmSync(prepared, { force: true });
  }
  throw new StartFault(`${subject}: several processes are starting there concurrently`);
}

/** Creating a hard link is atomic and never overwrites another. */
function link(prepared: string, file: string): boolean {
  try {
    linkSync(prepared, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Removes only the claim of an ended process: another process may have claimed the directory meanwhile. */
function putAside(file: string, judged: string): void {
  const aside = `${file}.${process.pid}.stale`;
  try {
    renameSync(file, aside);
  } catch {
    return; // another process was faster
  }
  if (read(aside) !== judged) link(aside, file);
  rmSync(aside, { force: true });
}

function releaseIf(file: string, mine: string): void {
  if (read(file) === mine) rmSync(file, { force: true });
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** Returns the start time of the process as an opaque text, or undefined if it has ended. */
function startOf(pid: number): string | undefined {
  const stat = read(`/proc/${pid}/stat`);
  if (stat !== undefined) {
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' '); // the command may hold spaces and parentheses
    if (fields[0] === 'Z') return undefined;
    const boot = read('/proc/sys/kernel/random/boot_id')?.trim() ?? '';
    return `${boot}:${fields[19]}`;
  }
  if (process.platform === 'linux') return undefined;
  try {
    const text = execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' });
    return text.trim().replaceAll(/\s+/g, '_') || undefined;
  } catch {
    return undefined;
  }
}
