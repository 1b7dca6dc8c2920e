// The secrets that open sealed keys: those in the settings, or those that `npm start` keeps in its data directory.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readKeySecrets } from '../../process/settings/read-key-secrets.ts';
import type { Database } from '../../store/postgres/database.ts';
import { KeyBoxes, useKeyBoxes } from '../../store/secrets/key-boxes.ts';

type Secrets = ConstructorParameters<typeof KeyBoxes>[0];

export function openKeyBoxes(db: Database, configured: Secrets, dataDirectory: string): void {
  const secrets = configured.length > 0 ? configured : keptSecrets(dataDirectory, 'keys');
  if (secrets.length > 0) useKeyBoxes(db, new KeyBoxes(secrets));
}

/** Returns none if the file is missing or this user may not read it; then signed zones or TSIG keys cannot be written. */
export function keptSecrets(dataDirectory: string, file: 'keys' | 'tsig-keys'): Secrets {
  try {
    return readKeySecrets(readFileSync(join(dataDirectory, file), 'utf8').trim());
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'EACCES' || code === 'ENOTDIR') return [];
    throw error;
  }
}
