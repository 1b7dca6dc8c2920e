// The secrets that open sealed keys: those in KEY_SECRETS, or those that `npm start` keeps in its data directory.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readKeySecrets } from '../../process/settings/read-key-secrets.ts';
import type { Database } from '../../store/postgres/database.ts';
import { KeyBoxes, useKeyBoxes } from '../../store/secrets/key-boxes.ts';

type Secrets = ConstructorParameters<typeof KeyBoxes>[0];

export function openKeyBoxes(db: Database, configured: Secrets, dataDirectory: string): void {
  const secrets = configured.length > 0 ? configured : keptSecrets(dataDirectory);
  if (secrets.length > 0) useKeyBoxes(db, new KeyBoxes(secrets));
}

/** Returns none if the file is missing or this user may not read it; then signed zones cannot be written. */
function keptSecrets(dataDirectory: string): Secrets {
  try {
    return readKeySecrets(readFileSync(join(dataDirectory, 'keys'), 'utf8').trim());
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'EACCES' || code === 'ENOTDIR') return [];
    throw error;
  }
}
