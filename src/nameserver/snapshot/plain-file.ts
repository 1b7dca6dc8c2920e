// Opens a file for reading only if it is a regular file. A pipe in its place would block the thread forever.

import { closeSync, constants, fstatSync, openSync } from 'node:fs';

/** The type of `readSync`: tests pass one that fails. */
export type ReadFile = (
  fd: number,
  into: Uint8Array,
  offset: number,
  length: number,
  position: number | null,
) => number;

export function openPlainFile(file: string): number {
  const fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!fstatSync(fd).isFile()) throw new Error(`${file} is not a regular file`);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}
