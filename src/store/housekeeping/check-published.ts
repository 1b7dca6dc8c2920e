// Compares a domain's published records with its own records and the settings, except those that only a signer creates
// (check-zone-signatures.ts). Any difference is a bug.

import { sql } from 'kysely';
import { printName } from '../../dns/name.ts';
import { printRdata } from '../../dns/record/rdata.ts';
import { typeMnemonic } from '../../dns/type-codes.ts';
import { isMark, type ZoneRecord } from '../../zone/zone.ts';
import { wholeZone } from '../change/publish-zone.ts';
import { DOMAIN_COLUMNS, DOMAIN_TABLES, type DomainRow } from '../domains/domain-row.ts';
import { nameserversOf } from '../domains/nameserver-sets.ts';
import { isOfSigner } from '../keys/signed-zone.ts';
import { loadPublishSettings } from '../postgres/answer-settings.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import { loadFlattened } from '../records/aname-targets.ts';

/** Returns one line per difference. */
export async function checkPublished(db: Database, domainId: number): Promise<string[]> {
  return await db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (trx) => {
      const { rows } = await sql<DomainRow>`
        select ${DOMAIN_COLUMNS} from ${DOMAIN_TABLES} where d.id = ${domainId}`.execute(trx);
      const [row] = rows;
      if (row === undefined) return ['there is no such domain'];
      const settings = await loadPublishSettings(trx);
      const { serial, served } = row;
      const wanted =
        served === 'none' ? [] : await wholeZone(trx, row, settings, serial, served, loadFlattened);
      const published = await loadPublished(trx, row);
      const isOwn = !row.isCopy || served !== 'full'; // a copy has the primary's records
      return [
        ...(isOwn ? missing(wanted, published.records) : []).map((line) => `not published: ${line}`),
        ...(isOwn ? missing(withoutSigner(row, published), wanted) : []).map((line) => `published: ${line}`),
        ...judgeCounts(row, published),
        ...(await judgeRecords(
          trx,
          row,
          nameserversOf(row, settings).map((name) => Buffer.from(name, 'latin1').toString('hex')),
        )),
      ];
    });
}

interface Published {
  readonly records: readonly ZoneRecord[];
  readonly count: number;
  readonly deleted: boolean;
}

async function loadPublished(trx: Database, row: DomainRow): Promise<Published> {
  const zone = await trx
    .selectFrom('zones')
    .select(['id', 'records', 'deleted_at'])
    .where('id', '=', row.zoneId)
    .executeTakeFirst();
  if (zone === undefined) return { records: [], count: 0, deleted: true };
  const rows = await trx
    .selectFrom('zone_records')
    .select(['owner', 'type', 'ttl', 'rdata'])
    .where('zone_id', '=', zone.id)
    .where('removed', '=', false)
    .execute();
  const records = rows.map((record) => ({ ...record, owner: decodeNameColumn(record.owner) }));
  return { records, count: zone.records, deleted: zone.deleted_at !== null };
}

function withoutSigner(row: DomainRow, { records }: Published): ZoneRecord[] {
  const apex = decodeNameColumn(row.name);
  return records.filter((record) => !isOfSigner(apex, record));
}

function missing(some: readonly ZoneRecord[], others: readonly ZoneRecord[]): string[] {
  const there = new Set(others.map(print));
  return some.map(print).filter((line) => !there.has(line));
}

function print({ owner, type, ttl, rdata }: ZoneRecord): string {
  return `${printName(owner)} ${ttl} ${typeMnemonic(type)} ${printRdata(type, rdata)}`;
}

function judgeCounts({ served }: DomainRow, { records, count, deleted }: Published): string[] {
  const held = records.filter((record) => !isMark(record)).length;
  return [
    ...(count === held ? [] : [`the zone has ${held} records, but its count is ${count}`]),
    ...(deleted === (served === 'none') ? [] : [`the zone is ${deleted ? 'not ' : ''}served: ${served}`]),
  ];
}

async function judgeRecords(
  trx: Database,
  row: DomainRow,
  nameservers: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ own: number; managed: string[] }>`
    select count(*) filter (where not managed) as own,
      coalesce(array_agg(encode(rdata, 'hex')) filter (where managed and type = 'NS'), '{}') as managed
    from records where domain_id = ${row.id}`.execute(trx);
  const { own, managed } = rows[0] as { own: number; managed: string[] };
  const same = [...managed].sort().join() === [...nameservers].sort().join();
  return [
    ...(own === row.recordCount
      ? []
      : [`the domain has ${own} records, but its count is ${row.recordCount}`]),
    ...(same || row.deletedAt !== null ? [] : ['the listed nameservers differ from the published ones']),
  ];
}
