// Writes a file completely or not at all: to a temporary file in the same folder, which is synced and then renamed.

import { randomBytes } from 'node:crypto';
import { type FileHandle, lstat, open, realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Failure } from './failure.ts';
import { explainFileError } from './find-zone-files.ts';

/** False if the signal aborted the write and the file is unchanged. */
export async function writeWholeFile(
  path: string,
  parts: Iterable<string>,
  signal: AbortSignal,
): Promise<boolean> {
  let temporary: string | undefined;
  let file: FileHandle | undefined;
  try {
    const target = await targetOf(path);
    temporary = join(dirname(target), `.${basename(target)}.${randomBytes(6).toString('hex')}.tmp`);
    file = await open(temporary, 'wx');
    for (const part of parts) {
      if (signal.aborted) return false;
      await file.appendFile(part);
    }
    await file.sync();
    await rename(temporary, target);
    temporary = undefined;
    return true;
  } catch (error) {
    if (error instanceof Failure || typeof (error as { code?: unknown }).code !== 'string') throw error;
    throw new Failure('file', `${path}: ${explainFileError(error)}`, { cause: error });
  } finally {
    await file?.close();
    if (temporary !== undefined) await rm(temporary, { force: true });
  }
}

/** Resolves symbolic links, so that a link is kept. Refuses to replace anything that is not a regular file. */
async function targetOf(path: string): Promise<string> {
  const target = await realpath(path).catch(() => path);
  const there = await lstat(target).catch(() => undefined);
  if (there !== undefined && !there.isFile()) throw new Failure('file', `${path}: not a regular file`);
  return target;
}
