// Lists the MD5 sums of a package's files, with which `dpkg --verify` finds damaged files.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the lines of the control file `md5sums`. Settings files are omitted, because dpkg itself stores their sums. */
export function checksumsOf(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .filter((path) => !path.startsWith('etc/'))
    .sort()
    .map(
      (path) =>
        `${createHash('md5')
          .update(readFileSync(join(folder, path)))
          .digest('hex')}  ${path}\n`,
    )
    .join('');
}
