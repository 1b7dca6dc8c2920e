// Opens the sealed private key of a certificate.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import type { About, KeyBoxes } from '../secrets/key-boxes.ts';
import { keyBoxesOf } from '../secrets/key-boxes.ts';

/** Private keys cannot be sealed or opened. Nothing was written, because keys are never stored unsealed. */
export class CertificatesUnavailable extends Error {
  override readonly name = 'CertificatesUnavailable';
}

/** Throws CertificatesUnavailable if the process has no KEY_SECRETS. */
export function requireBoxes(db: Database): KeyBoxes {
  const boxes = keyBoxesOf(db);
  if (boxes !== undefined) return boxes;
  throw new CertificatesUnavailable(
    'KEY_SECRETS is not set in this process, and private keys are not stored without it',
  );
}

interface OpenCertificate {
  readonly id: number;
  readonly domainId: number;
  /** PEM, with the leaf certificate first. */
  readonly chain: string;
  /** PEM (PKCS #8). */
  readonly privateKey: string;
}

interface CertificateRow {
  readonly domainId: number;
  readonly chain: string;
  readonly boxId: number;
  readonly sealed: Buffer;
  readonly fingerprint: string;
}

/** Returns undefined if the certificate does not exist or was replaced. Throws CertificatesUnavailable. */
export async function openCertificate(db: Database, id: number): Promise<OpenCertificate | undefined> {
  const { rows } = await sql<CertificateRow>`
    select domain_id as "domainId", chain, box_id as "boxId", sealed, fingerprint
    from certificates where id = ${id}`.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  const about = aboutCertificateKey(id, row);
  try {
    const privateKey = await requireBoxes(db).unseal(db, row, about);
    return { id, domainId: row.domainId, chain: row.chain, privateKey: privateKey.toString('utf8') };
  } catch (error) {
    if (error instanceof CertificatesUnavailable) throw error;
    throw new CertificatesUnavailable(`the private key of certificate ${id} cannot be opened`, {
      cause: error,
    });
  }
}

export function aboutCertificateKey(
  id: number,
  { domainId, fingerprint }: Pick<CertificateRow, 'domainId' | 'fingerprint'>,
): About {
  return ['certificate key', String(id), String(domainId), fingerprint];
}
