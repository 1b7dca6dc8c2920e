// Writes a certificate with its sealed private key.

import { sql } from 'kysely';
import type { JudgedCertificate } from '../../edge/certificates/judge-certificate.ts';
import type { CertificateKind } from '../../store/certificates/load-ssl.ts';
import { aboutCertificateKey, requireBoxes } from '../../store/certificates/open-certificate.ts';
import type { Database } from '../../store/postgres/database.ts';

/** Requires the lock of the domain. Returns the new id. Throws CertificatesUnavailable. */
export async function writeCertificate(
  trx: Database,
  domainId: number,
  { kind, judged }: { readonly kind: CertificateKind; readonly judged: JudgedCertificate },
): Promise<number> {
  const boxes = requireBoxes(trx);
  const { names, chain, privateKey, notBefore, notAfter, issuer, fingerprint } = judged;
  await sql`delete from certificates where domain_id = ${domainId}`.execute(trx);
  const { rows } = await sql<{ id: number }>`select nextval('certificates_id_seq') as id`.execute(trx);
  const { id } = rows[0] as { id: number };
  const about = aboutCertificateKey(id, { domainId, fingerprint });
  const { boxId, sealed } = await boxes.seal(trx, about, Buffer.from(privateKey, 'utf8'));
  await sql`
    insert into certificates (id, domain_id, kind, names, chain, box_id, sealed, not_before, not_after, issuer, fingerprint)
    values (${id}, ${domainId}, ${kind}, ${names}::text[], ${chain}, ${boxId}, ${sealed}, ${notBefore}, ${notAfter},
      ${issuer}, ${fingerprint})`.execute(trx);
  return id;
}
