// The secret with which stored secrets are sealed: where KEY_SECRETS is not set, `npm start` makes one in DATA_DIR, once.

import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readKeySecrets } from '../process/settings/read-key-secrets.ts';
import { StartFault } from '../process/start-fault.ts';

interface FoundSecrets {
  /** As KEY_SECRETS has it. */
  readonly text: string;
  readonly file: string;
  readonly list: ReturnType<typeof readKeySecrets>;
  readonly isNew: boolean;
}

/** The name is random too: two machines that each make one do not take the other's for their own. */
export function ensureKeySecrets(dataDirectory: string): FoundSecrets {
  const file = join(dataDirectory, 'keys');
  const made = `k${randomBytes(4).toString('hex')}:${randomBytes(32).toString('base64')}`;
  const found = (text: string, isNew: boolean) => ({ text, file, isNew, list: readKeySecrets(text) });
  mkdirSync(dataDirectory, { recursive: true });
  try {
    writeFileSync(file, `${made}\n`, { mode: 0o600, flag: 'wx' });
    return found(made, true);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw cannot(file, error);
  }
  try {
    return found(readFileSync(file, 'utf8').trim(), false);
  } catch (error) {
    throw cannot(file, error);
  }
}

function cannot(file: string, error: unknown): StartFault {
  return new StartFault(`${file}: the secret for stored secrets cannot be read: ${(error as Error).message}`);
}
