// Records, next to the snapshot, which generation is being read and checked, and how many attempts have not ended.
// Otherwise a snapshot that crashes its reader would crash it at every start.

import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface RestoreNote {
  readonly generation: number;
  /** Number of times that reading the generation started. */
  readonly attempts: number;
  /** True if the watchdog ended the reader. */
  readonly isStuck: boolean;
  /** True if the check has found a fault. */
  readonly isUnsound: boolean;
}

/** Number of times that reading may start without ending: a kill or a power failure meanwhile is not the snapshot's fault. */
const MAX_ATTEMPTS = 3;
const FILE = 'restoring.json';

/** Returns undefined if the last read ended normally. */
export function readRestoreNote(directory: string): RestoreNote | undefined {
  try {
    const note = JSON.parse(readFileSync(join(directory, FILE), 'utf8')) as Partial<RestoreNote> | null;
    const { generation, attempts, isStuck, isUnsound } = note ?? {};
    if (!Number.isSafeInteger(generation) || !Number.isSafeInteger(attempts)) return undefined;
    return {
      generation: generation as number,
      attempts: attempts as number,
      isStuck: isStuck === true,
      isUnsound: isUnsound === true,
    };
  } catch {
    return undefined;
  }
}

/** Returns the reason why this generation must not be read again. Returns undefined if it may be read. */
export function whyNotRead(note: RestoreNote | undefined, generation: number): string | undefined {
  if (note === undefined || note.generation !== generation) return undefined;
  if (note.isUnsound) return 'its content is not valid';
  if (note.isStuck) return 'the thread made no progress while it read the snapshot';
  return note.attempts < MAX_ATTEMPTS
    ? undefined
    : `the process ended ${note.attempts} times while it was read`;
}

/** Writes the note. A failure to write is ignored: the directory may be read-only. */
export function noteRestoring(directory: string, generation: number): void {
  const before = readRestoreNote(directory);
  const attempts = before?.generation === generation ? before.attempts + 1 : 1;
  write(directory, { generation, attempts, isStuck: false, isUnsound: false });
}

/** Call it if a thread was ended while it read or checked the snapshot. */
export function noteStuck(directory: string): void {
  const note = readRestoreNote(directory);
  if (note !== undefined) write(directory, { ...note, isStuck: true });
}

/** Call it if the check found a fault in the generation that is being read. */
export function noteUnsound(directory: string): void {
  const note = readRestoreNote(directory);
  if (note !== undefined) write(directory, { ...note, isUnsound: true });
}

export function removeRestoreNote(directory: string): void {
  try {
    rmSync(join(directory, FILE), { force: true });
  } catch {
    // ignored, as in `write`
  }
}

function write(directory: string, note: RestoreNote): void {
  const file = join(directory, FILE);
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    writeFileSync(`${file}.${process.pid}`, JSON.stringify(note), { mode: 0o600 });
    renameSync(`${file}.${process.pid}`, file);
  } catch {
    // the next start has one more attempt
  }
}
