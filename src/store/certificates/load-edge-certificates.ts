// Loads what edges receive about certificates: references, and responses to ACME challenges.

import { sql } from 'kysely';
import type { EdgeCertificate, EdgeChallenge } from '../../edge/edge-config.ts';
import type { Database } from '../postgres/database.ts';

/** Keyed by domain id. A domain without a certificate has no entry. */
export async function loadEdgeCertificates(
  db: Database,
  domainIds: readonly number[],
): Promise<Map<number, EdgeCertificate[]>> {
  const { rows } = await sql<{
    id: number;
    domainId: number;
    names: string[];
    notAfter: Date;
    sha256: string;
  }>`
    select id, domain_id as "domainId", names, not_after as "notAfter", fingerprint as sha256 from certificates
    where domain_id = any(${domainIds}::bigint[]) order by id`.execute(db);
  const found = new Map<number, EdgeCertificate[]>();
  for (const { id, domainId, names, notAfter, sha256 } of rows) {
    const told = { id, names, not_after: notAfter.toISOString(), sha256 };
    found.set(domainId, [...(found.get(domainId) ?? []), told]);
  }
  return found;
}

/** Loads HTTP-01 challenge responses (RFC 8555 §8.3), keyed by domain id. */
export async function loadHttp01(
  db: Database,
  domainIds: readonly number[],
): Promise<Map<number, EdgeChallenge[]>> {
  const { rows } = await sql<{ domainId: number; host: string; token: string; keyAuthorization: string }>`
    select domain_id as "domainId", host, token, key_authorization as "keyAuthorization" from acme_answers
    where domain_id = any(${domainIds}::bigint[]) order by domain_id, host, token`.execute(db);
  const found = new Map<number, EdgeChallenge[]>();
  for (const { domainId, host, token, keyAuthorization } of rows) {
    const told = { host, token, key_authorization: keyAuthorization };
    found.set(domainId, [...(found.get(domainId) ?? []), told]);
  }
  return found;
}
