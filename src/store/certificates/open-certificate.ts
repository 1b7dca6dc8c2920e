// One certificate with its private key, for an edge that serves the domain.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import type { About } from '../secrets/key-boxes.ts';
import { CertificatesUnavailable, requireBoxes } from './certificates-unavailable.ts';

interface OpenCertificate {
  readonly id: number;
  readonly domainId: number;
  /** PEM, the leaf first. */
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

/** Undefined: there is none, or it was replaced by one with another id. Throws CertificatesUnavailable. */
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
    throw new CertificatesUnavailable(`the key of certificate ${id} does not open`, { cause: error });
  }
}

export function aboutCertificateKey(
  id: number,
  { domainId, fingerprint }: Pick<CertificateRow, 'domainId' | 'fingerprint'>,
): About {
  return ['certificate key', String(id), String(domainId), fingerprint];
}
