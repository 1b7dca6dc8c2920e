// Reads files that $INCLUDE names, but only inside the folder of the zone file. Links are resolved first, so that neither `..` nor
// a symbolic link leads out of it. Relative paths start at that folder.

import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, resolve, sep } from 'node:path';
import { decodeText } from '../../dns/zone-file/decode-text.ts';
import { explainFileError } from '../terminal/find-zone-files.ts';

export type ReadInclude = (path: string) => string | { error: string };

/** Returns the reader for the zone file at `path`. Undefined is standard input, which has no folder. */
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

// O_NOFOLLOW: the file may have become a link meanwhile. O_NONBLOCK: opening a FIFO would wait for a writer.
function readRegularFile(path: string): string | undefined {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    return fstatSync(descriptor).isFile() ? decodeText(readFileSync(descriptor)) : undefined;
  } finally {
    closeSync(descriptor);
  }
}
