// The secrets that encrypt stored secrets and TSIG keys. If KEY_SECRETS or TSIG_SECRETS is not set, `npm start` creates a
// secret in DATA_DIR once.

import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readKeySecrets } from '../process/settings/read-key-secrets.ts';
import { StartFault } from '../process/start-fault.ts';

interface FoundSecrets {
  /** Format of KEY_SECRETS. */
  readonly text: string;
  readonly file: string;
  readonly list: ReturnType<typeof readKeySecrets>;
  readonly isNew: boolean;
}

/** The name is also random, so that two machines do not mistake each other's secret for their own. */
export function ensureKeySecrets(dataDirectory: string, name: 'keys' | 'tsig-keys'): FoundSecrets {
  const file = join(dataDirectory, name);
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
  return new StartFault(
    `${file}: cannot read the secret that encrypts stored secrets: ${(error as Error).message}`,
  );
}
