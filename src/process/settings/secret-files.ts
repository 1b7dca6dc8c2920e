// Reads secrets from files: any secret setting NAME may be given as NAME_FILE, the path of a file that holds the value, as
// Docker and Kubernetes secrets and systemd credentials are.

import { closeSync, openSync, readSync } from 'node:fs';
import { READERS_OF, SECRET_OF_FILE } from './every-setting.ts';
import type { Reader } from './setting.ts';

type Environment = Readonly<Record<string, string | undefined>>;

interface OpenedSecrets {
  /** The environment with the secrets of the files, and without the variables that named the files. */
  readonly env: Environment;
  /** Paths of the files by the name of the setting, including files that were not opened. */
  readonly paths: ReadonlyMap<string, string>;
  readonly faults: readonly string[];
}

/** Far above the longest secret, and small enough that a wrong path such as /dev/zero does no harm. */
const MAX_BYTES = 64 * 1024;

/** Opens the files of the secrets that `reader` reads, or of all secrets if it is undefined. */
export function openSecretFiles(env: Environment, reader?: Reader): OpenedSecrets {
  const opened: Record<string, string | undefined> = { ...env };
  const paths = new Map<string, string>();
  const faults: string[] = [];
  for (const [variable, name] of SECRET_OF_FILE) {
    const path = env[variable]?.trim() ?? '';
    delete opened[variable];
    if (path === '') continue;
    paths.set(name, path);
    if (reader !== undefined && !READERS_OF.get(name)?.includes(reader)) continue;
    if ((env[name]?.trim() ?? '') !== '') {
      faults.push(`${variable}: expected only one of ${name} and ${variable} to be set`);
      continue;
    }
    try {
      opened[name] = readSecret(path);
    } catch (error) {
      faults.push(`${variable}: cannot read ${path}: ${(error as Error).message}`);
    }
  }
  return { env: opened, paths, faults };
}

/** Reads in pieces, because a pipe has no size and returns fewer bytes than requested. */
function readSecret(path: string): string {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(MAX_BYTES + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length <= MAX_BYTES; length += read)
      read = readSync(file, bytes, length, bytes.length - length, null);
    if (length > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`);
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, length)).trim();
    if (text === '') throw new Error('it is empty');
    return text;
  } finally {
    closeSync(file);
  }
}
