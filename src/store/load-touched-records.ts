// The records that a write has to see, under the domain's lock. Managed ones are not among them.

import { sql } from 'kysely';
import type { Name } from '../dns/name.ts';
import type { CustomerRecord } from '../zone/customer-record.ts';
import { type Edit, idsTouched, namesTouched } from '../zone/edit.ts';
import { namesBetween } from '../zone/record-name.ts';
import type { Database } from './database.ts';
import { decodeNameColumn, encodeNameColumn } from './name-column.ts';
import { decodeRecord, RECORD_COLUMNS, type RecordRow } from './record-row.ts';

export async function loadRecordsWithIds(
  trx: Database,
  domainId: number,
  ids: readonly number[],
): Promise<CustomerRecord[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<RecordRow>`
    select ${RECORD_COLUMNS} from records r
    where r.id = any(${ids}::bigint[]) and r.domain_id = ${domainId} and not r.managed`.execute(trx);
  return rows.map(decodeRecord);
}

export async function loadRecordsAt(
  trx: Database,
  domainId: number,
  names: readonly Name[],
): Promise<CustomerRecord[]> {
  if (names.length === 0) return [];
  const { rows } = await sql<RecordRow>`
    select ${RECORD_COLUMNS} from records r
    where r.domain_id = ${domainId} and r.name = any(${names.map(encodeNameColumn)}::text[]) and not r.managed
    order by r.id`.execute(trx);
  return rows.map(decodeRecord);
}

async function loadCutsAt(
  trx: Database,
  domainId: number,
  names: readonly Name[],
): Promise<CustomerRecord[]> {
  if (names.length === 0) return [];
  const { rows } = await sql<RecordRow>`
    select ${RECORD_COLUMNS} from records r
    where r.domain_id = ${domainId} and r.name = any(${names.map(encodeNameColumn)}::text[])
      and r.type = 'NS' and not r.managed`.execute(trx);
  return rows.map(decodeRecord);
}

/** A delegation is rare: then the domain's names are read, not its records. */
async function namesBelow(
  trx: Database,
  domainId: number,
  apex: Name,
  above: readonly Name[],
): Promise<Name[]> {
  if (above.length === 0) return [];
  const { rows } = await sql<{ name: string }>`
    select distinct name from records where domain_id = ${domainId}`.execute(trx);
  const cuts = new Set(above);
  return rows
    .map(({ name }) => decodeNameColumn(name))
    .filter((name) => name !== apex && [...namesBetween(name, apex)].some((between) => cuts.has(between)));
}

/** All that `planEdit` has to see, and everything at the apex, which each change publishes anew. */
export async function loadTouchedRecords(
  trx: Database,
  domainId: number,
  apex: Name,
  edit: Edit,
): Promise<CustomerRecord[]> {
  const found = await loadRecordsWithIds(trx, domainId, idsTouched(edit));
  const needed = namesTouched(edit, apex, found);
  const below = await namesBelow(trx, domainId, apex, needed.below);
  const at = new Set([apex, ...needed.at, ...below]);
  const records = await loadRecordsAt(trx, domainId, [...at]);
  const cuts = await loadCutsAt(
    trx,
    domainId,
    needed.cutsAt.filter((name) => !at.has(name)),
  );
  return [...records, ...cuts];
}

export async function loadRecordsByName(
  trx: Database,
  domainId: number,
): Promise<Map<Name, CustomerRecord[]>> {
  const { rows } = await sql<RecordRow>`
    select ${RECORD_COLUMNS} from records r where r.domain_id = ${domainId} and not r.managed
    order by r.name, r.id`.execute(trx);
  const byName = new Map<Name, CustomerRecord[]>();
  for (const record of rows.map(decodeRecord)) {
    const list = byName.get(record.name);
    if (list === undefined) byName.set(record.name, [record]);
    else list.push(record);
  }
  return byName;
}
