// A note beside the snapshot while it is read: which generation, and how often reading began and did not end. Without
// it, a snapshot that crashes its reader would be read, and crash it, at every start.

import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface RestoreNote {
  readonly generation: number;
  /** How often reading the generation began. */
  readonly attempts: number;
  /** The watchdog ended the reader. */
  readonly isStuck: boolean;
}

/** How many readings may fail to end: a kill or a power cut while the snapshot is read is not the snapshot's fault. */
const MAX_ATTEMPTS = 3;
const FILE = 'restoring.json';

/** Undefined: the last reading ended normally. */
export function readRestoreNote(directory: string): RestoreNote | undefined {
  try {
    const note = JSON.parse(readFileSync(join(directory, FILE), 'utf8')) as Partial<RestoreNote> | null;
    const { generation, attempts, isStuck } = note ?? {};
    if (!Number.isSafeInteger(generation) || !Number.isSafeInteger(attempts)) return undefined;
    return { generation: generation as number, attempts: attempts as number, isStuck: isStuck === true };
  } catch {
    return undefined;
  }
}

/** Why this generation must not be read again; undefined: it may be read. */
export function whyNotRead(note: RestoreNote | undefined, generation: number): string | undefined {
  if (note === undefined || note.generation !== generation) return undefined;
  if (note.isStuck) return 'the thread stood still while it was read';
  return note.attempts < MAX_ATTEMPTS
    ? undefined
    : `the process ended ${note.attempts} times while it was read`;
}

/** Writes the note. A failure to write is ignored: the directory may be read-only. */
export function noteRestoring(directory: string, generation: number): void {
  const before = readRestoreNote(directory);
  const attempts = before?.generation === generation ? before.attempts + 1 : 1;
  write(directory, { generation, attempts, isStuck: false });
}

/** Call it for a thread that was ended while it read the snapshot. */
export function noteStuck(directory: string): void {
  const note = readRestoreNote(directory);
  if (note !== undefined) write(directory, { ...note, isStuck: true });
}

export function removeRestoreNote(directory: string): void {
  try {
    rmSync(join(directory, FILE), { force: true });
  } catch {
    // as for `write`
  }
}

function write(directory: string, note: RestoreNote): void {
  const file = join(directory, FILE);
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    writeFileSync(`${file}.${process.pid}`, JSON.stringify(note), { mode: 0o600 });
    renameSync(`${file}.${process.pid}`, file);
  } catch {
    // the next start tries once more
  }
}
