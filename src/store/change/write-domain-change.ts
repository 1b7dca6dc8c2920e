// Writes one change of a domain under its locks: the published records (publish-zone.ts), serial and version, and rows
// of the feed and the log. Only the affected names are written, and in a signed zone their neighbours.

import { type RawBuilder, sql } from 'kysely';
import type { Name } from '../../dns/name.ts';
import type { DomainStatus, Served } from '../../zone/domain/domain-status.ts';
import type { SavedOperation } from '../../zone/edit/plan-revert.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import type { CustomerRecord } from '../../zone/records/customer-record.ts';
import { timedSerial } from '../../zone/serial.ts';
import { isUnprovenMark, MARK_TYPE, unprovenMarkOf, type ZoneRecord } from '../../zone/zone.ts';
import { type ChangedBy, printActor } from '../accounts/actor.ts';
import { actionOfChange } from '../audit/audit-actions.ts';
import { auditInsert } from '../audit/write-audit.ts';
import { nameserversOf } from '../domains/nameserver-sets.ts';
import { noteSignatures } from '../keys/sign-change.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import { sendWithNext } from '../postgres/pool-driver.ts';
import type { DomainOperation } from '../postgres/tables/schema.ts';
import { announceAfterCommit } from '../postgres/transaction.ts';
import { printOperations } from '../records/record-row.ts';
import type { RuleOperation } from '../rules/rule.ts';
import {
  type ChangedZone,
  changedZone,
  changesWritten,
  differenceWritten,
  type LockedZone,
  rowsWritten,
  writeDifference,
} from '../zones/write-zone.ts';
import { type Chunk, chunksOfOwners } from '../zones/zone-rows.ts';
import type { DomainLock } from './lock-domain.ts';
import { managedRecordsWritten, publishedChunks, saveManagedRecords } from './publish-zone.ts';

interface DomainChangeOrder extends ChangedBy {
  readonly operation: DomainOperation;
  readonly ops?: readonly SavedOperation[];
  /** Operations on rules, which are already written. */
  readonly rules?: readonly RuleOperation[];
  readonly status?: { readonly from: DomainStatus | null; readonly to: DomainStatus | null };
  readonly reverts?: number;
  readonly checkId?: number;
  readonly served: Served;
  readonly recordCount?: number;
  /** Parts of a WITH that write the domain's records. */
  readonly records?: readonly RawBuilder<unknown>[];
  /**
   * The names whose records changed, each with all its current records, or `whole` if any name may have changed. The
   * apex is always republished for its serial.
   */
  readonly publish: ReadonlyMap<Name, readonly CustomerRecord[]> | 'whole';
  /** Those of these names that had no records before. Undefined if unknown. */
  readonly newNames?: ReadonlySet<Name>;
  /**
   * True if the domain was inserted with its serial, and as it is served. It has no records yet, and the lock has ids for
   * those of the service.
   */
  readonly isNew?: boolean;
  /** Further parts of a WITH that are written together with the change. */
  readonly also?: readonly RawBuilder<unknown>[];
}

export interface WrittenChange {
  readonly changeId: number;
  readonly serial: number;
}

/**
 * `lock.row` is the domain as it will be published, with its nameservers and its zone. The zone of a copy that stays
 * answered whole is not written, and keeps its serial.
 */
export async function writeDomainChange(
  trx: Database,
  lock: DomainLock,
  order: DomainChangeOrder,
): Promise<WrittenChange> {
  const { row, zone, settings } = lock;
  const { by, source, served, records = [], also = [] } = order;
  const isKept = isKeptCopy(lock, order);
  const serial = isKept || order.isNew === true ? row.serial : timedSerial(row.serial, lock.now);
  const changeId = zone?.nextVersion ?? (await nextVersion(trx));
  // One statement does the rest, unless the whole zone is published, which is computed from the stored records.
  const whole = zone !== undefined && served !== 'none' && !isKept && isWhole(lock, order);
  if (whole) for (const written of records) await sql`with ${written} select`.execute(trx);
  const parts = whole ? [...also] : [...records, ...also];
  const changes: ChangedZone[] = [];
  let last: Chunk | undefined;
  if (isWhole(lock, order)) {
    const nameservers = nameserversOf(row, settings);
    if (order.isNew === true) parts.push(managedRecordsWritten(lock, nameservers, lock.ahead?.ids ?? []));
    else await saveManagedRecords(trx, lock, nameservers);
  }
  if (isKept) {
    last = await markChunk(trx, lock, order);
    if (last !== undefined) changes.push(changedZone(zone as LockedZone, zone?.records));
  } else if (zone !== undefined) {
    const deleted = served === 'none';
    const written = deleted ? await clearZone(trx, lock) : await publish(trx, lock, serial, order);
    last = written.last;
    changes.push(changedZone(zone, deleted ? undefined : written.records));
  }
  // A new zone has no rows to compare with.
  if (last !== undefined) parts.push(zone?.version === 0 ? rowsWritten(last) : differenceWritten(last));
  const operation = served === 'none' ? 'zone.unload' : 'zone.save';
  parts.push(changesWritten(changes, operation, { source, actor: printActor(by) }, last));
  if (order.isNew !== true)
    parts.push(sql`domain as (
      update domains set serial = ${serial}, served = ${served}, answers_generation = ${settings.generation},
        record_count = ${order.recordCount ?? row.recordCount}, updated_at = ${lock.now}
      where id = ${row.id})`);
  parts.push(...logWritten(lock, order, { changeId, serial }));
  await sendWithNext(trx, sql`with ${sql.join(parts)} select`);
  announceAfterCommit(trx);
  return { changeId, serial };
}

/** Publishes all own records of a domain that is no longer a copy. */
export async function publishOwnRecords(
  trx: Database,
  lock: DomainLock,
  by: ChangedBy,
): Promise<WrittenChange> {
  const { served } = lock.row;
  return await writeDomainChange(trx, lock, { ...by, operation: 'settings', served, publish: 'whole' });
}

export async function nextVersion(trx: Database): Promise<number> {
  const { rows } = await sql<{ id: number }>`select nextval('change_version') as id`.execute(trx);
  return (rows[0] as { id: number }).id;
}

interface Published {
  /** Number of records in the zone, without those that `last` adds. */
  readonly records: number;
  /** The chunk that is not yet written. */
  readonly last?: Chunk;
}

async function clearZone(trx: Database, { zone, signed }: DomainLock): Promise<Published> {
  if (signed !== undefined) await noteSignatures(trx, signed.id, null);
  if (zone?.deleted === false) await sql`delete from zone_records where zone_id = ${zone.id}`.execute(trx);
  return { records: 0 };
}

async function publish(
  trx: Database,
  lock: DomainLock,
  serial: number,
  order: DomainChangeOrder,
): Promise<Published> {
  const zone = lock.zone as LockedZone;
  let { records } = zone;
  let last: Chunk | undefined;
  // A copy gets its records from the next transfer. Until then, its apex is answered.
  const served = lock.row.isCopy ? 'apex' : order.served;
  const published = { ...order, served, isWhole: isWhole(lock, order) };
  for await (const chunk of publishedChunks(trx, lock, serial, published)) {
    if (last !== undefined) records += (await writeDifference(trx, last)).get(zone.id) ?? 0;
    last = chunk;
  }
  return { records, ...(last !== undefined && { last }) };
}

/** Returns true if only transfers write the zone: the domain is a copy, and stays answered whole. */
function isKeptCopy({ row, zone }: DomainLock, { served }: Pick<DomainChangeOrder, 'served'>): boolean {
  return row.isCopy && served === 'full' && row.served === 'full' && zone?.deleted === false;
}

/** Returns the change of a copy's mark if the domain becomes proven or unproven. */
async function markChunk(
  trx: Database,
  { row, zone }: DomainLock,
  { status }: Pick<DomainChangeOrder, 'status'>,
): Promise<Chunk | undefined> {
  if (status === undefined || (status.from === 'pending') === (status.to === 'pending')) return undefined;
  const apex = decodeNameColumn(row.name);
  const { id } = zone as LockedZone;
  const { rows } = await sql<Pick<ZoneRecord, 'type' | 'ttl'>>`
    select type, ttl from zone_records
    where zone_id = ${id} and owner = ${row.name} and type = ${MARK_TYPE} and not removed`.execute(trx);
  // Another mark says that only the apex is answered, or that the copy has expired.
  if (rows.some((mark) => !isUnprovenMark({ ...mark, owner: apex }, apex))) return undefined;
  const records = marksOfCopy(apex, status.to);
  return [...chunksOfOwners(zone as LockedZone, apex, [{ owner: apex, types: [MARK_TYPE], records }])][0];
}

/** Returns the mark at the apex of a copy that is answered whole. */
export function marksOfCopy(apex: Name, status: DomainStatus | null): ZoneRecord[] {
  return status === 'pending' ? [unprovenMarkOf(apex)] : [];
}

/** Returns true if the whole zone must be written: it is served again, or was published with other settings. */
function isWhole({ row, zone, settings }: DomainLock, { publish, served }: DomainChangeOrder): boolean {
  if (publish === 'whole' || row.answersGeneration !== settings.generation) return true;
  return served !== 'none' && (zone?.deleted === true || served !== row.served);
}

export async function writeLog(
  trx: Database,
  lock: DomainLock,
  order: LogOrder,
  written: WrittenChange,
): Promise<void> {
  await sql`with ${sql.join(logWritten(lock, order, written))} select`.execute(trx);
}

/** Does the same as parts of a WITH. */
export function logWritten(lock: DomainLock, order: LogOrder, written: WrittenChange): RawBuilder<unknown>[] {
  const told = auditEntry(lock, order, written.changeId);
  const logged = sql`logged as (${logEntry(lock, order, written)})`;
  return told === undefined ? [logged] : [sql`told as (${told})`, logged];
}

type LogOrder = Omit<DomainChangeOrder, 'served' | 'publish' | 'records'>;

/** Returns an audit row that refers to the change. */
function auditEntry(
  { row }: DomainLock,
  { by, operation, status }: LogOrder,
  changeId: number,
): RawBuilder<unknown> | undefined {
  const action = actionOfChange({ operation, actor: by.kind, status });
  if (action === undefined) return undefined;
  const target = { name: printWithoutDot(decodeNameColumn(row.name)) };
  const entry = { action, by, domainId: row.id, changeId, target };
  if (status === undefined) return auditInsert(entry);
  const { from, to } = status;
  return auditInsert({
    ...entry,
    ...(from !== null && { before: { status: from } }),
    ...(to !== null && { after: { status: to } }),
  });
}

function logEntry(
  { row, now }: DomainLock,
  { by, source, operation, ops = [], rules = [], status, reverts, checkId }: LogOrder,
  { changeId, serial }: WrittenChange,
): RawBuilder<unknown> {
  return sql`
    insert into domain_changes (id, domain_id, account_id, serial, at, operation, source, actor_kind,
      actor_account_id, actor_key_id, actor_address, actor_name, ops, status_from, status_to, reverts,
      check_id, rules)
    values (${changeId}, ${row.id}, ${row.accountId}, ${serial}, ${now}, ${operation}, ${source}, ${by.kind},
      ${by.accountId ?? null}, ${by.keyId ?? null}, ${by.address ?? null}, ${by.name ?? null},
      ${printOperations(ops)}, ${status?.from ?? null}, ${status?.to ?? null},
      ${reverts ?? null}, ${checkId ?? null}, ${rules.length === 0 ? null : JSON.stringify(rules)}::jsonb)`;
}
