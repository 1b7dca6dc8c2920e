// Reads the files that a zone file's $INCLUDE names, and only inside the folder that the zone file lies in: links are
// followed first, so that neither `..` nor a symbolic link leads out. A relative path starts at that folder.

import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, resolve, sep } from 'node:path';
import { decodeText } from '../../dns/zone-file/decode-text.ts';
import { explainFileError } from '../terminal/find-zone-files.ts';

export type ReadInclude = (path: string) => string | { error: string };

/** The reader for the zone file at `path`; undefined is standard input, which lies in no folder. */
export function confineInclude(path: string | undefined): ReadInclude {
  if (path === undefined) return () => ({ error: 'standard input has no folder to include from' });
  const folder = dirname(realpathSync(path));
  return (wanted) => {
    try {
      const real = realpathSync(resolve(folder, wanted));
      const inside = real.startsWith(folder.endsWith(sep) ? folder : folder + sep);
      if (!inside) return { error: `"${wanted}" lies outside the zone file's folder` };
      return readRegularFile(real) ?? { error: `"${wanted}" is not a regular file` };
    } catch (error) {
      return { error: `"${wanted}": ${explainFileError(error)}` };
    }
  };
}

// O_NOFOLLOW: the last step may have become a link since; O_NONBLOCK: opening a FIFO would wait for a writer.
function readRegularFile(path: string): string | undefined {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    return fstatSync(descriptor).isFile() ? decodeText(readFileSync(descriptor)) : undefined;
  } finally {
    closeSync(descriptor);
  }
}
