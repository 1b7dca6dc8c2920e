// Lists the certificates and orders of all domains.

import { sql } from 'kysely';
import { loadSsl, type StoredSsl } from '../../store/certificates/load-ssl.ts';
import type { Database } from '../../store/postgres/database.ts';
import { decodeNameColumn } from '../../store/postgres/name-column.ts';
import { printWithoutDot } from '../../zone/name-text.ts';

export interface DomainSsl extends StoredSsl {
  readonly domainId: number;
  /** A-labels, without the final dot. */
  readonly domain: string;
  readonly email: string;
}

const PIECE = 1000;

/** Yields domains sorted by name. */
export async function* streamSsl(db: Database): AsyncGenerator<DomainSsl> {
  let after = { name: '', id: 0 };
  for (;;) {
    const { rows } = await sql<{ id: number; name: string; email: string }>`
      select d.id, d.name, a.email from domains d join accounts a on a.id = d.account_id
      where d.deleted_at is null and (d.name, d.id) > (${after.name}, ${after.id})
        and (exists (select from certificates c where c.domain_id = d.id)
          or exists (select from acme_orders o where o.domain_id = d.id))
      order by d.name, d.id limit ${PIECE}`.execute(db);
    const found = await loadSsl(
      db,
      rows.map(({ id }) => id),
    );
    for (const { id, name, email } of rows) {
      const ssl = found.get(id); // may have been deleted meanwhile
      if (ssl !== undefined)
        yield { ...ssl, domainId: id, domain: printWithoutDot(decodeNameColumn(name)), email };
      after = { name, id };
    }
    if (rows.length < PIECE) return;
  }
}
