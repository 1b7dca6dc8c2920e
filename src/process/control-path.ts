// Path of a nameserver process's control socket, in the node's directory.

import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';

export const CONTROL_FILE = 'control.sock';
/** The kernel's limit for a socket path without the terminating zero (unix(7)). */
const MAX_PATH_BYTES = 107;

/** Response to `{"ask":"restart"}`. */
export type RestartOutcome =
  | { readonly kind: 'restarted'; readonly pid: number; readonly before: number }
  | { readonly kind: 'failed'; readonly reason: string };

/** Calls `use` with a path of the control socket that is short enough for the kernel. */
export async function withControlPath<T>(
  directory: string,
  use: (path: string) => T | Promise<T>,
): Promise<T> {
  const path = join(directory, CONTROL_FILE);
  if (Buffer.byteLength(path) <= MAX_PATH_BYTES) return await use(path);
  const descriptor = openSync(directory, 'r');
  try {
    return await use(`/proc/self/fd/${descriptor}/${CONTROL_FILE}`);
  } finally {
    closeSync(descriptor);
  }
}
