// Resolves the PATHs of a command: a file, each `*.zone` directly in a folder, or `-` for standard input. A file that several
// PATHs lead to is listed once.

import { readdirSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** `name` is shown to the operator. `path` is opened; undefined is standard input. */
export interface ZoneFilePath {
  readonly name: string;
  readonly path: string | undefined;
}

interface PathProblem {
  readonly path: string;
  readonly message: string;
}

interface FoundZoneFiles {
  readonly files: readonly ZoneFilePath[];
  readonly problems: readonly PathProblem[];
}

export const STANDARD_INPUT = '-';

export function findZoneFiles(paths: readonly string[]): FoundZoneFiles {
  const files = new Map<string, ZoneFilePath>();
  const problems: PathProblem[] = [];
  for (const path of paths) {
    if (path === STANDARD_INPUT) {
      files.set(STANDARD_INPUT, { name: STANDARD_INPUT, path: undefined });
      continue;
    }
    const found = filesAt(path);
    if (typeof found === 'string') problems.push({ path, message: found });
    else for (const name of found) add(files, problems, name);
  }
  return { files: [...files.values()], problems };
}

/** Describes the error of a file operation. */
export function explainFileError(error: unknown): string {
  const { code, message } = error as { code?: string; message: string };
  if (code === 'ENOENT') return 'no such file';
  if (code === 'EACCES' || code === 'EPERM') return 'not readable: permission denied';
  if (code === 'EISDIR') return 'a folder, not a file';
  if (code === 'ELOOP') return 'a loop of symbolic links';
  if (code === 'ERR_FS_FILE_TOO_LARGE' || code === 'ERR_STRING_TOO_LONG')
    return 'larger than a zone file may be (512 MiB)';
  return message;
}

function add(files: Map<string, ZoneFilePath>, problems: PathProblem[], name: string): void {
  try {
    const real = realpathSync(name);
    if (!files.has(real)) files.set(real, { name, path: name });
  } catch (error) {
    problems.push({ path: name, message: explainFileError(error) });
  }
}

function filesAt(path: string): string[] | string {
  try {
    if (!statSync(path).isDirectory()) return [path];
    const names = readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.name.endsWith('.zone') && (entry.isFile() || entry.isSymbolicLink()))
      .map((entry) => join(path, entry.name))
      .sort();
    return names.length > 0 ? names : 'no *.zone file in this folder';
  } catch (error) {
    return explainFileError(error);
  }
}
