// The service's own NS at a domain's apex, kept among its records so that they are listed together. The record of a
// nameserver that stays keeps its id.

import { sql } from 'kysely';
import { encodeName, foldCase, type Name, nameInRdata } from '../../dns/name.ts';
import { NS_TTL_SECONDS } from '../../zone/publish/publish.ts';
import { type CustomerRecord, DEFAULT_SETTINGS } from '../../zone/records/customer-record.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import { allocateRecordIds, RECORD_COLUMN_NAMES, recordsAsTable } from '../records/record-row.ts';
import type { LockedDomain } from './publish-zone.ts';

/** Those of these ids whose records belong to the service. */
export async function findManagedIds(
  trx: Database,
  domainId: number,
  ids: readonly number[],
): Promise<Set<number>> {
  if (ids.length === 0) return new Set();
  const { rows } = await sql<{ id: number }>`
    select id from records where id = any(${ids}::bigint[]) and domain_id = ${domainId} and managed`.execute(
    trx,
  );
  return new Set(rows.map(({ id }) => id));
}

async function loadManaged(trx: Database, domainId: number): Promise<{ id: number; rdata: Buffer }[]> {
  const { rows } = await sql<{ id: number; rdata: Buffer }>`
    select r.id, r.rdata from records r join domains d on d.id = r.domain_id and d.name = r.name
    where r.domain_id = ${domainId} and r.managed and r.type = 'NS'`.execute(trx);
  return rows;
}

export async function saveManagedRecords(
  trx: Database,
  { row, now }: LockedDomain,
  nameservers: readonly Name[],
): Promise<void> {
  const wanted = new Set(nameservers.map(foldCase));
  const present = await loadManaged(trx, row.id);
  const held = new Map(present.map(({ id, rdata }) => [nameInRdata(rdata), id]));
  const gone = [...held].filter(([name]) => !wanted.has(name)).map(([, id]) => id);
  const added = [...wanted].filter((name) => !held.has(name));
  if (gone.length > 0) {
    await sql`delete from records where id = any(${gone}::bigint[])`.execute(trx);
  }
  if (added.length === 0) return;
  const ids = await allocateRecordIds(trx, added.length);
  const at = now.toISOString();
  const records = added.map(
    (name, i): CustomerRecord => ({
      ...DEFAULT_SETTINGS,
      id: ids[i] as number,
      name: decodeNameColumn(row.name),
      type: 'NS',
      rdata: encodeName(name),
      ttl: NS_TTL_SECONDS,
      createdAt: at,
      updatedAt: at,
    }),
  );
  await sql`
    insert into records (${RECORD_COLUMN_NAMES}, managed)
    select ${RECORD_COLUMN_NAMES}, true from ${recordsAsTable(row.id, records)} n`.execute(trx);
}
