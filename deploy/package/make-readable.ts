// Gives the files of a package the same modes, whatever modes the files of the clone have.

import { chmodSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Lets everyone read the files in the folder. Throws on a symbolic link. */
export function makeReadable(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) makeReadable(path);
    else if (entry.isFile()) chmodSync(path, 0o644);
    else throw new Error(`${path} is neither a file nor a folder`);
  }
}
