// A note beside the snapshot while it is read: which generation, and how often that began and did not end. A snapshot
// that ends its reader each time would otherwise be read, and end it, at every start for ever.

import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface RestoreNote {
  readonly generation: number;
  /** How often reading it began. */
  readonly attempts: number;
  /** The watchdog ended the reader. */
  readonly isStuck: boolean;
}

/** A kill or a power cut may come while the snapshot is read: that is not the snapshot's fault. */
const MAX_ATTEMPTS = 3;
const FILE = 'restoring.json';

/** Undefined: the last reading came to its end. */
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

/** Why this generation is not to be read again; undefined: it may be. */
export function whyNotRead(note: RestoreNote | undefined, generation: number): string | undefined {
  if (note === undefined || note.generation !== generation) return undefined;
  if (note.isStuck) return 'the thread stood still while it was read';
  return note.attempts < MAX_ATTEMPTS
    ? undefined
    : `the process ended ${note.attempts} times while it was read`;
}

/** What cannot be written is not missed: the directory may be read-only. */
export function noteRestoring(directory: string, generation: number): void {
  const before = readRestoreNote(directory);
  const attempts = before?.generation === generation ? before.attempts + 1 : 1;
  write(directory, { generation, attempts, isStuck: false });
}

/** To be called for a thread that was ended while it read the snapshot. */
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
