// Private keys of certificates cannot be sealed or opened here and now.

import type { Database } from '../postgres/database.ts';
import { keyBoxesOf } from '../secrets/database-keys.ts';
import type { KeyBoxes } from '../secrets/key-boxes.ts';

/** Nothing was written: a private key is never stored unsealed. */
export class CertificatesUnavailable extends Error {
  override readonly name = 'CertificatesUnavailable';
}

/** Throws CertificatesUnavailable. */
export function requireBoxes(db: Database): KeyBoxes {
  const boxes = keyBoxesOf(db);
  if (boxes !== undefined) return boxes;
  throw new CertificatesUnavailable(
    'KEY_SECRETS is not set in this process, and private keys are not stored without',
  );
}
