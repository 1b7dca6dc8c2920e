// One change of a domain, under its locks: the published records that follow from it, serial and version, the feed's
// row and the log's. What is published is a function of the domain's records and the settings, and only the names
// concerned are written.

import { sql } from 'kysely';
import type { Name } from '../dns/name.ts';
import type { CustomerRecord } from '../zone/customer-record.ts';
import type { DomainStatus, Served } from '../zone/domain-status.ts';
import type { SavedOperation } from '../zone/plan-revert.ts';
import { apexRecords, nextSerial, publishName } from '../zone/publish.ts';
import { selectNameservers } from '../zone/select-nameservers.ts';
import type { ZoneRecord } from '../zone/zone.ts';
import { type ChangedBy, printActor } from './actor.ts';
import type { PublishSettings } from './answer-settings.ts';
import type { Database } from './database.ts';
import { type DomainRow, nameserverChoice } from './domain.ts';
import { loadRecordsByName } from './load-touched-records.ts';
import type { DomainLock } from './lock-domain.ts';
import { saveManagedRecords } from './managed-records.ts';
import { decodeNameColumn, encodeNameColumn } from './name-column.ts';
import { encodeOperation } from './record-row.ts';
import type { DomainOperation } from './schema.ts';
import { announceAfterCommit } from './transaction.ts';
import { type LockedZone, writeChanges, writeDifference } from './write-zone.ts';
import { type Chunk, chunksOf, type RecordRow, recordRows } from './zone-rows.ts';

export interface DomainChangeOrder extends ChangedBy {
  readonly operation: DomainOperation;
  readonly ops?: readonly SavedOperation[];
  readonly status?: { readonly from: DomainStatus | null; readonly to: DomainStatus | null };
  readonly reverts?: number;
  /** After the change. */
  readonly served: Served;
  readonly recordCount?: number;
  /** The names whose records changed, each with all that it has now; `whole`: perhaps every one. */
  readonly publish: ReadonlyMap<Name, readonly CustomerRecord[]> | 'whole';
}

export interface WrittenChange {
  readonly changeId: number;
  readonly serial: number;
}

/** `lock.row` is the domain as it is to be published: its nameservers, its zone. */
export async function writeDomainChange(
  trx: Database,
  lock: DomainLock,
  order: DomainChangeOrder,
): Promise<WrittenChange> {
  const { row, zone, settings } = lock;
  const serial = nextSerial(row.serial);
  const changeId = zone?.nextVersion ?? (await nextVersion(trx));
  if (zone !== undefined) {
    const { by, source, served } = order;
    if (isWhole(lock, order)) await saveManagedRecords(trx, lock, nameserversOf(row, settings));
    const records = served === 'none' ? await clearZone(trx, zone) : await publish(trx, lock, serial, order);
    const deleted = served === 'none';
    const changed = { zoneId: zone.id, version: changeId, records, deleted };
    await writeChanges(trx, [changed], deleted ? 'zone.unload' : 'zone.save', {
      source,
      actor: printActor(by),
    });
  }
  await sql`
    update domains set serial = ${serial}, served = ${order.served}, answers_generation = ${settings.generation},
      record_count = ${order.recordCount ?? row.recordCount}, updated_at = ${lock.now}
    where id = ${row.id}`.execute(trx);
  await writeLog(trx, lock, order, { changeId, serial });
  announceAfterCommit(trx);
  return { changeId, serial };
}

async function nextVersion(trx: Database): Promise<number> {
  const { rows } = await sql<{ id: number }>`select nextval('change_version') as id`.execute(trx);
  return (rows[0] as { id: number }).id;
}

async function clearZone(trx: Database, zone: LockedZone): Promise<number> {
  if (!zone.deleted) await sql`delete from zone_records where zone_id = ${zone.id}`.execute(trx);
  return 0;
}

/** The number of the zone's records then. */
async function publish(
  trx: Database,
  lock: DomainLock,
  serial: number,
  order: DomainChangeOrder,
): Promise<number> {
  const { row, settings } = lock;
  const zone = lock.zone as LockedZone;
  let growth = 0;
  const write = async (chunk: Chunk): Promise<void> => {
    growth += (await writeDifference(trx, chunk)).get(zone.id) ?? 0;
  };
  const { publish, served } = order;
  if (publish === 'whole' || isWhole(lock, order)) {
    const records = await wholeZone(trx, row, settings, serial, served);
    for (const chunk of chunksOf([
      { zoneId: zone.id, version: zone.nextVersion, rows: recordRows(records) },
    ])) {
      await write(chunk);
    }
  } else {
    const names = served === 'apex' ? new Map<Name, readonly CustomerRecord[]>() : publish;
    for (const chunk of chunksOfNames(publishNames(row, settings, serial, names, served), zone)) {
      await write(chunk);
    }
  }
  return zone.records + growth;
}

/** More than the names concerned: the zone comes back, or was made of other settings. */
function isWhole({ row, zone, settings }: DomainLock, { publish, served }: DomainChangeOrder): boolean {
  if (publish === 'whole' || row.answersGeneration !== settings.generation) return true;
  return served !== 'none' && (zone?.deleted === true || served !== row.served);
}

/** Everything that nodes serve for the domain. */
export async function wholeZone(
  trx: Database,
  row: DomainRow,
  settings: PublishSettings,
  serial: number,
  served: Served,
): Promise<ZoneRecord[]> {
  const byName = served === 'full' ? await loadRecordsByName(trx, row.id) : new Map();
  return [...publishNames(row, settings, serial, byName, served).values()].flat();
}

/** The records at these names and at the apex, whose own are needed when the domain is served in full. */
function publishNames(
  row: DomainRow,
  settings: PublishSettings,
  serial: number,
  names: ReadonlyMap<Name, readonly CustomerRecord[]>,
  served: Served,
): Map<Name, ZoneRecord[]> {
  const apex = decodeNameColumn(row.name);
  const published = new Map<Name, ZoneRecord[]>();
  for (const [name, records] of names) published.set(name, publishName(records, settings.edges));
  const nameservers = nameserversOf(row, settings);
  const own = apexRecords({ apex, nameservers, serial, rname: settings.rname });
  published.set(apex, [...own, ...(served === 'full' ? (published.get(apex) ?? []) : [])]);
  return published;
}

export function nameserversOf(row: DomainRow, { nameserverSets }: PublishSettings): readonly Name[] {
  return selectNameservers(nameserverChoice(row), nameserverSets);
}

const CHUNK_ROWS = 10_000;
const CHUNK_OCTETS = 8 << 20;

/** Each name whole. */
export function* chunksOfNames(
  names: ReadonlyMap<Name, readonly ZoneRecord[]>,
  zone: LockedZone,
): Generator<Chunk> {
  const { id: zoneId, nextVersion: version } = zone;
  let chunk: Chunk = { slices: [], rows: [] };
  let octets = 0;
  for (const [name, records] of names) {
    const first = encodeNameColumn(name);
    // No owner lies between a name and the same text with another character.
    chunk.slices.push({ zoneId, version, first, end: `${first}\x01` });
    for (const row of recordRows(records)) {
      chunk.rows.push({ ...row, zoneId, version });
      octets += octetsIn(row);
    }
    if (chunk.slices.length < CHUNK_ROWS && chunk.rows.length < CHUNK_ROWS && octets < CHUNK_OCTETS) continue;
    yield chunk;
    chunk = { slices: [], rows: [] };
    octets = 0;
  }
  if (chunk.slices.length > 0) yield chunk;
}

function octetsIn({ rdata, owner }: RecordRow): number {
  return rdata.length + owner.length;
}

export async function writeLog(
  trx: Database,
  { row, now }: DomainLock,
  { by, source, operation, ops = [], status, reverts }: Omit<DomainChangeOrder, 'served' | 'publish'>,
  { changeId, serial }: WrittenChange,
): Promise<void> {
  await trx
    .insertInto('domain_changes')
    .values({
      id: changeId,
      domain_id: row.id,
      account_id: row.accountId,
      serial,
      at: now,
      operation,
      source,
      actor_kind: by.kind,
      actor_account_id: by.accountId ?? null,
      actor_key_id: by.keyId ?? null,
      actor_address: by.address ?? null,
      actor_name: by.name ?? null,
      ops: JSON.stringify(ops.map(encodeOperation)),
      status_from: status?.from ?? null,
      status_to: status?.to ?? null,
      check_id: null,
      reverts: reverts ?? null,
    })
    .execute();
}
