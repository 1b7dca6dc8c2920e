// Stores a certificate of a domain with an encrypted key, for requests by edges. Neither is usable for TLS.

import { sql } from 'kysely';
import { keyBoxesOf } from '../../../src/store/secrets/key-boxes.ts';
import type { TestApi } from '../api/api.ts';

export const CHAIN = 'the chain';
export const KEY = 'the key';

/** Returns its id. */
export async function sealCertificate(api: TestApi, domainId: number, name: string): Promise<number> {
  const boxes = keyBoxesOf(api.db);
  if (boxes === undefined) throw new Error('there are no boxes');
  const id = 4000 + domainId;
  const about = ['certificate key', String(id), String(domainId), 'ab'] as const;
  const { boxId, sealed } = await api.db
    .transaction()
    .execute((trx) => boxes.seal(trx, about, Buffer.from(KEY)));
  await sql`insert into certificates (id, domain_id, kind, names, chain, box_id, sealed, not_before, not_after, issuer, fingerprint)
    values (${id}, ${domainId}, 'custom', ${[name]}, ${CHAIN}, ${boxId}, ${sealed}, now(), now(), 'CA', 'ab')`.execute(
    api.db,
  );
  return id;
}
