// Computes what is published for a domain from its records, the settings, and the last known addresses of its ANAME
// targets; in a signed zone also signatures and denials. Yields chunks of one statement each.

import { type RawBuilder, sql } from 'kysely';
import { encodeName, foldCase, type Name, nameInRdata } from '../../dns/name.ts';
import type { Served } from '../../zone/domain/domain-status.ts';
import {
  apexRecords,
  type FlattenedTarget,
  NS_TTL_SECONDS,
  publishApex,
  publishName,
} from '../../zone/publish/publish.ts';
import {
  type CustomerRecord,
  DEFAULT_SETTINGS,
  type EdgeAddresses,
} from '../../zone/records/customer-record.ts';
import type { OwnerRows } from '../../zone/signing/plan-rows.ts';
import type { ZoneRecord } from '../../zone/zone.ts';
import type { DomainRow } from '../domains/domain-row.ts';
import { nameserversOf } from '../domains/nameserver-sets.ts';
import { signChange } from '../keys/sign-change.ts';
import { isWrittenSigned, type SignedZone } from '../keys/signed-zone.ts';
import type { PublishSettings } from '../postgres/answer-settings.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import { sendWithNext } from '../postgres/pool-driver.ts';
import { type FlattenedOf, lockFlattened } from '../records/aname-targets.ts';
import { loadRecordsAt, loadRecordsByName } from '../records/load-touched-records.ts';
import { allocateRecordIds, RECORD_COLUMN_NAMES, recordsAsTable } from '../records/record-row.ts';
import type { LockedZone } from '../zones/write-zone.ts';
import { type Chunk, chunksOf, chunksOfOwners, recordRows } from '../zones/zone-rows.ts';

/** Returns the edge addresses. A domain that some regions do not serve publishes the default addresses everywhere. */
export function edgesOf({ edgeRegions }: DomainRow, { edges }: PublishSettings): EdgeAddresses {
  return edgeRegions === null ? edges : { v4: edges.v4, v6: edges.v6 };
}

/** A locked domain, as it will be published. */
export interface LockedDomain {
  readonly row: DomainRow;
  /** Undefined for a domain that has lost its name. */
  readonly zone: LockedZone | undefined;
  /** Undefined for a domain that was never signed. */
  readonly signed: SignedZone | undefined;
  readonly settings: PublishSettings;
  /** The time of this change, in whole milliseconds as in JavaScript. */
  readonly now: Date;
}

interface PublishOrder {
  readonly served: Served;
  /** The names whose records changed, each with all its current records. */
  readonly publish: ReadonlyMap<Name, readonly CustomerRecord[]> | 'whole';
  /** Names at which nothing is published yet. */
  readonly newNames?: ReadonlySet<Name>;
  /** True if everything is published again. */
  readonly isWhole: boolean;
  /** True if the domain has no records yet. */
  readonly isNew?: boolean;
}

/** The domain must have a zone. */
export async function* publishedChunks(
  trx: Database,
  domain: LockedDomain,
  serial: number,
  order: PublishOrder,
): AsyncGenerator<Chunk> {
  const { row, signed, now } = domain;
  const zone = domain.zone as LockedZone;
  const apex = decodeNameColumn(row.name);
  const names = await namesToPublish(trx, domain, serial, order);
  if (isWrittenSigned(signed)) {
    const { isWhole } = order;
    const owners = await signChange(trx, {
      zoneId: zone.id,
      apex,
      signed,
      now,
      wanted: names,
      isWhole,
    });
    yield* chunksOfOwners(zone, apex, owners);
  } else if (order.isWhole) {
    const rows = recordRows(apex, [...names.values()].flat());
    yield* chunksOf([{ zone, rows }]);
  } else {
    yield* chunksOfOwners(zone, apex, ownersOf(names, order.newNames));
  }
}

export function* ownersOf(
  names: ReadonlyMap<Name, readonly ZoneRecord[]>,
  newNames?: ReadonlySet<Name>,
): Generator<OwnerRows> {
  for (const [owner, records] of names) yield { owner, records, isNew: newNames?.has(owner) === true };
}

async function namesToPublish(
  trx: Database,
  { row, zone, settings }: LockedDomain,
  serial: number,
  { publish, served, isWhole, isNew = false }: PublishOrder,
): Promise<Map<Name, ZoneRecord[]>> {
  if (isNew) return publishNames(row, settings, serial, new Map(), served, new Map());
  if (isWhole || publish === 'whole')
    return await wholeNames(trx, row, settings, serial, served, lockFlattened);
  const changed = await withApex(trx, row, publish);
  const flattened = await lockFlattened(trx, zone?.id ?? null, changed.values()); // also before they are served
  const names = served === 'apex' ? new Map<Name, readonly CustomerRecord[]>() : changed;
  return publishNames(row, settings, serial, names, served, flattened);
}

async function withApex(
  trx: Database,
  row: DomainRow,
  names: ReadonlyMap<Name, readonly CustomerRecord[]>,
): Promise<ReadonlyMap<Name, readonly CustomerRecord[]>> {
  const apex = decodeNameColumn(row.name);
  return names.has(apex) ? names : new Map([...names, [apex, await loadRecordsAt(trx, row.id, [apex])]]);
}

/** Returns all records that nodes serve for the domain, except those of DNSSEC. */
export async function wholeZone(
  trx: Database,
  row: DomainRow,
  settings: PublishSettings,
  serial: number,
  served: Served,
  flattenedOf: FlattenedOf,
): Promise<ZoneRecord[]> {
  return [...(await wholeNames(trx, row, settings, serial, served, flattenedOf)).values()].flat();
}

async function wholeNames(
  trx: Database,
  row: DomainRow,
  settings: PublishSettings,
  serial: number,
  served: Served,
  flattenedOf: FlattenedOf,
): Promise<Map<Name, ZoneRecord[]>> {
  const byName: ReadonlyMap<Name, CustomerRecord[]> =
    served === 'full' ? await loadRecordsByName(trx, row.id) : new Map();
  const flattened = await flattenedOf(trx, row.zoneId, byName.values());
  return publishNames(row, settings, serial, byName, served, flattened);
}

/** Publishes the records at these names, and at the apex if the domain is served in full. */
function publishNames(
  row: DomainRow,
  settings: PublishSettings,
  serial: number,
  names: ReadonlyMap<Name, readonly CustomerRecord[]>,
  served: Served,
  flattened: ReadonlyMap<Name, FlattenedTarget>,
): Map<Name, ZoneRecord[]> {
  const apex = decodeNameColumn(row.name);
  const published = new Map<Name, ZoneRecord[]>();
  for (const [name, records] of names) {
    published.set(name, publishName(records, edgesOf(row, settings), flattened.get(name)));
  }
  const nameservers = nameserversOf(row, settings);
  const own = apexRecords({ apex, nameservers, serial, rname: settings.rname });
  published.set(apex, publishApex(own, published.get(apex) ?? [], { served, status: row.status }));
  return published;
}

/** Returns those of the ids whose records the service manages. */
export async function findManagedIds(
  trx: Database,
  domainId: number,
  ids: readonly number[],
): Promise<Set<number>> {
  if (ids.length === 0) return new Set();
  const { rows } = await sql<{ id: number }>`
    select id from records where id = any(${ids}::bigint[]) and domain_id + 0 = ${domainId} and managed`.execute(
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

/**
 * Stores the service's own NS records at the apex, so that they are listed with the domain's records. The record of a
 * nameserver that remains keeps its id.
 */
export async function saveManagedRecords(
  trx: Database,
  domain: LockedDomain,
  nameservers: readonly Name[],
): Promise<void> {
  const wanted = new Set(nameservers.map(foldCase));
  const present = await loadManaged(trx, domain.row.id);
  const held = new Map(present.map(({ id, rdata }) => [nameInRdata(rdata), id]));
  const gone = [...held].filter(([name]) => !wanted.has(name)).map(([, id]) => id);
  const added = [...wanted].filter((name) => !held.has(name));
  if (gone.length > 0) {
    await sql`delete from records where id = any(${gone}::bigint[])`.execute(trx);
  }
  if (added.length === 0) return;
  const ids = await allocateRecordIds(trx, added.length);
  await sendWithNext(trx, managedInsert(domain, added, ids));
}

/** Returns a part of a WITH that does the same for a domain without records. There are at least as many ids as names. */
export function managedRecordsWritten(
  domain: LockedDomain,
  nameservers: readonly Name[],
  ids: readonly number[],
): RawBuilder<unknown> {
  return sql`managed as (${managedInsert(domain, [...new Set(nameservers.map(foldCase))], ids)})`;
}

function managedInsert(
  { row, now }: LockedDomain,
  nameservers: readonly Name[],
  ids: readonly number[],
): RawBuilder<unknown> {
  const at = now.toISOString();
  const records = nameservers.map(
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
  return sql`
    insert into records (${RECORD_COLUMN_NAMES}, managed)
    select ${RECORD_COLUMN_NAMES}, true from ${recordsAsTable(row.id, records)} n`;
}
