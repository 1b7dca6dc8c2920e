// The certificate of a domain with its private key, for an edge that serves the domain. Each read leaves a row in the audit log,
// in the transaction that allows it.

import { sql } from 'kysely';
import { writeAudit } from '../audit/write-audit.ts';
import { openCertificate } from '../certificates/open-certificate.ts';
import type { Database } from '../postgres/database.ts';
import { inTransaction } from '../postgres/transaction.ts';
import type { FoundEdge } from './edges.ts';
import { IS_SERVED } from './load-edge-configs.ts';

interface ReadKey {
  readonly id: number;
  readonly chain: string;
  readonly privateKey: string;
}

/** Undefined: there is no such certificate, or it is not for this edge. */
export async function readKey(
  db: Database,
  { id: edgeId, name, region, tokenHash }: FoundEdge,
  certificateId: number,
  address: string,
): Promise<ReadKey | undefined> {
  return await inTransaction(db, async (trx) => {
    const { rows } = await sql<{ domain: string }>`
      select d.name as domain from certificates c join domains d on d.id = c.domain_id
      where c.id = ${certificateId} and d.deleted_at is null and ${IS_SERVED}
        and (d.edge_regions is null or ${region} = any(d.edge_regions))
        and exists (select from edges e where e.id = ${edgeId} and e.token_hash = ${tokenHash} and e.revoked_at is null)`.execute(
      trx,
    );
    const [served] = rows;
    if (served === undefined) return undefined;
    const opened = await openCertificate(trx, certificateId);
    if (opened === undefined) return undefined;
    await writeAudit(trx, {
      action: 'edge.read_key',
      by: { kind: 'system', name: `edge ${name}`, address },
      target: { id: certificateId, name: served.domain },
      after: { edge: name },
    });
    return { id: certificateId, chain: opened.chain, privateKey: opened.privateKey };
  });
}
