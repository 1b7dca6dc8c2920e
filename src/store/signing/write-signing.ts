// Writes what only signing changes: signatures, denial records, keys and the serial, under the lock of the zone.

import { type RawBuilder, sql } from 'kysely';
import type { Name } from '../../dns/name.ts';
import { coveredType } from '../../dns/record/covered-type.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { nextSerial, serialIn, timedSerial, withSerial } from '../../zone/serial.ts';
import type { OwnerRows } from '../../zone/signing/plan-rows.ts';
import { signSets } from '../../zone/signing/sign-set.ts';
import { type SignatureTimes, signatureTimes } from '../../zone/signing/validity.ts';
import type { ZoneRecord } from '../../zone/zone.ts';
import { type ChangedBy, printActor } from '../accounts/actor.ts';
import { type DomainLock, lockDomain } from '../change/lock-domain.ts';
import { logWritten } from '../change/write-domain-change.ts';
import { readOwners, readWhole } from '../keys/read-zone-rows.ts';
import { signChange, zoneKeys } from '../keys/sign-change.ts';
import { isOfSigner, isWrittenSigned, loadSignedZones, type SignedZone } from '../keys/signed-zone.ts';
import { currentTime } from '../postgres/current-time.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import type { ChangeSource } from '../postgres/tables/schema.ts';
import { announceAfterCommit } from '../postgres/transaction.ts';
import {
  changedZone,
  type LockedZone,
  lockZones,
  writeDifference,
  writeLastChange,
} from '../zones/write-zone.ts';
import { type Chunk, chunksOfOwners } from '../zones/zone-rows.ts';

/** A signed zone's owner: a domain, or an operator zone by name in stored form. */
export type Subject = { readonly domainId: number } | { readonly zoneName: string };

export interface LockedSubject {
  readonly subject: Subject;
  readonly apex: Name;
  /** Undefined for a domain without a zone. */
  readonly zone: LockedZone | undefined;
  /** Undefined if the zone was never signed. */
  readonly signed: SignedZone | undefined;
  /** Undefined for an operator zone. */
  readonly domain: DomainLock | undefined;
  readonly now: Date;
}

/**
 * Takes the lock under which the signing of a zone changes: that of its domain, or of the operator zone's row. Returns
 * undefined if there is no such domain or operator zone.
 */
export async function lockSubject(trx: Database, subject: Subject): Promise<LockedSubject | undefined> {
  if ('domainId' in subject) {
    const domain = await lockDomain(trx, subject.domainId);
    if (domain === undefined || domain.row.deletedAt !== null) return undefined;
    const { row, zone, signed, now } = domain;
    return { subject, apex: decodeNameColumn(row.name), zone, signed, domain, now };
  }
  const { zoneName } = subject;
  const zone = (await lockZones(trx, [zoneName], false)).get(zoneName);
  if (zone === undefined || zone.kind !== 'operator' || zone.deleted) return undefined;
  const signed = (await loadSignedZones(trx, [zoneName])).get(zoneName);
  const now = await currentTime(trx);
  return { subject, apex: decodeNameColumn(zoneName), zone, signed, domain: undefined, now };
}

/** Returns the subject of a signed zone, or undefined if its domain was purged. */
export async function subjectOf(db: Database, signedZoneId: number): Promise<Subject | undefined> {
  const { rows } = await sql<{ domainId: number | null; zoneName: string | null }>`
    select domain_id as "domainId", zone_name as "zoneName" from signed_zones where id = ${signedZoneId}`.execute(
    db,
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  return row.domainId === null ? { zoneName: row.zoneName as string } : { domainId: row.domainId };
}

interface SigningChange {
  /** The settings and keys to sign with. */
  readonly signed: SignedZone;
  /** Names to sign besides the apex. Their neighbours are included as needed. */
  readonly names: readonly Name[] | 'whole';
  /** True for a refresh: signatures that are due soon are renewed together with due ones. */
  readonly isRefresh?: boolean;
  /** All rows of the zone, if they are read already. */
  readonly present?: readonly ZoneRecord[] | undefined;
  /** Records that replace the present ones at some of the names. An empty list removes them. */
  readonly replaced?: ReadonlyMap<Name, readonly ZoneRecord[]>;
  /** See `ChangeToSign`. */
  readonly missing?: ReadonlyMap<Name, ZoneRecord>;
}

/** A change that is not written to the customers' log, because such changes are frequent. */
interface Unlogged {
  readonly source: ChangeSource;
  readonly by?: undefined;
}

export const REFRESH: Unlogged = { source: 'signing' };

/** Signs the records at these names, and increments the serial. The zone must exist. For `others`, see `finish`. */
export async function writeSigning(
  trx: Database,
  locked: LockedSubject,
  change: SigningChange,
  by: ChangedBy | Unlogged,
  others: readonly RawBuilder<unknown>[] = [],
): Promise<void> {
  const zone = locked.zone as LockedZone;
  const rows = await readPresent(trx, locked, change);
  const serial = nextSerialOf(locked, rows);
  const owners = await signPresent(trx, locked, change, rows, serial);
  await finish(trx, locked, serial, chunksOfOwners(zone, locked.apex, owners), by, others);
}

/**
 * Does the same for a zone that is answered as unsigned, without signing its apex. Returns all resulting rows, including
 * those of the apex.
 */
export async function writeBelowApex(
  trx: Database,
  locked: LockedSubject,
  change: SigningChange,
): Promise<OwnerRows[]> {
  const { apex } = locked;
  const rows = await readPresent(trx, locked, change);
  const owners = await signPresent(trx, locked, change, rows, undefined);
  const below = owners.filter(({ owner }) => owner !== apex);
  if (below.length > 0) await writeOwners(trx, locked, below);
  return owners;
}

async function readPresent(
  trx: Database,
  { zone, apex }: LockedSubject,
  { names, present }: SigningChange,
): Promise<readonly ZoneRecord[]> {
  const { id } = zone as LockedZone;
  if (present !== undefined) return present;
  return names === 'whole'
    ? await readWhole(trx, id)
    : await readOwners(trx, id, [...new Set([...names, apex])]);
}

/** If `serial` is undefined, it does not change. */
async function signPresent(
  trx: Database,
  { zone, apex, now }: LockedSubject,
  { signed, names, isRefresh = false, replaced = new Map(), missing }: SigningChange,
  rows: readonly ZoneRecord[],
  serial: number | undefined,
): Promise<OwnerRows[]> {
  const wanted = new Map<Name, ZoneRecord[]>((names === 'whole' ? [] : names).map((name) => [name, []]));
  for (const record of rows) {
    if (isOfSigner(apex, record)) continue;
    const isServedSoa = serial !== undefined && record.owner === apex && record.type === TYPE.SOA;
    const one = isServedSoa ? { ...record, rdata: withSerial(record.rdata, serial) } : record;
    const same = wanted.get(record.owner);
    if (same === undefined) wanted.set(record.owner, [one]);
    else same.push(one);
  }
  for (const [name, records] of replaced) wanted.set(name, [...records]);
  const { id: zoneId } = zone as LockedZone;
  const isWhole = names === 'whole';
  const change = { zoneId, apex, signed, now, wanted, isWhole, isRefresh };
  return await signChange(trx, { ...change, ...(isWhole && { present: rows }), ...(missing && { missing }) });
}

interface OwnersOrder {
  /** The validity of the new signatures of the SOA, if the zone is answered as signed. */
  readonly times?: SignatureTimes;
  /** The new serial. */
  readonly serial?: number;
  /** Rows of the zone, if they are read already, with all of its apex. */
  readonly present?: readonly ZoneRecord[];
  /** See `finish`. */
  readonly others?: readonly RawBuilder<unknown>[];
}

/** Writes these owners as given, and increments the serial. */
export async function writeOwners(
  trx: Database,
  locked: LockedSubject,
  owners: readonly OwnerRows[],
  order: OwnersOrder = {},
): Promise<void> {
  const { apex, signed } = locked;
  const zone = locked.zone as LockedZone;
  const rows =
    order.present?.filter(({ owner }) => owner === apex) ?? (await readOwners(trx, zone.id, [apex]));
  const { serial = nextSerialOf(locked, rows), times = signatureTimes(apex, secondsOf(locked.now)) } = order;
  const served = rows.find(({ type }) => type === TYPE.SOA) as ZoneRecord;
  const soa = { ...served, rdata: withSerial(served.rdata, serial) };
  const keys = isWrittenSigned(signed) ? (await zoneKeys(trx, signed)).data : [];
  const toSign = keys.map((key) => ({ set: { ...soa, rdata: [soa.rdata] }, key }));
  const signatures = (await signSets(toSign, { zone: apex, times })).map((rdata) => ({
    ...soa,
    type: TYPE.RRSIG,
    rdata,
  }));
  const others = replacedAt(apex, rows, owners).filter((record) => !isOfSoa(record));
  const atApex = { owner: apex, records: [soa, ...signatures, ...others] };
  const below = owners.filter(({ owner }) => owner !== apex);
  const chunks = chunksOfOwners(zone, apex, [atApex, ...below]);
  await finish(trx, locked, serial, chunks, REFRESH, order.others);
}

function secondsOf(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}

/** Returns the rows of a name after these changes. */
function replacedAt(name: Name, rows: readonly ZoneRecord[], owners: readonly OwnerRows[]): ZoneRecord[] {
  let left = [...rows];
  for (const { owner, types, records } of owners) {
    if (owner !== name) continue;
    left = [...left.filter(({ type }) => types !== undefined && !types.includes(type)), ...records];
  }
  return left;
}

/** Returns true for an SOA and for its signatures. */
export function isOfSoa({ type, rdata }: ZoneRecord): boolean {
  return type === TYPE.SOA || (type === TYPE.RRSIG && coveredType(rdata) === TYPE.SOA);
}

/** Writes marks, which are not part of the zone's content: the serial does not change. */
export async function writeMarks(
  trx: Database,
  locked: LockedSubject,
  owners: readonly OwnerRows[],
): Promise<void> {
  const zone = locked.zone as LockedZone;
  await finish(trx, locked, undefined, chunksOfOwners(zone, locked.apex, owners), REFRESH);
}

/** Returns the serial after the one that is served. `rows` contains the SOA. */
export function nextSerialOf({ domain, apex }: LockedSubject, rows: readonly ZoneRecord[]): number {
  if (domain !== undefined) return timedSerial(domain.row.serial, domain.now);
  const soa = rows.find(({ owner, type }) => owner === apex && type === TYPE.SOA) as ZoneRecord;
  return nextSerial(serialIn(soa.rdata));
}

/** If `serial` is undefined, it does not change. `others` are parts of a WITH for the last statement. */
export async function finish(
  trx: Database,
  { zone, domain }: LockedSubject,
  serial: number | undefined,
  chunks: Iterable<Chunk>,
  change: ChangedBy | Unlogged,
  others: readonly RawBuilder<unknown>[] = [],
): Promise<void> {
  const { id, nextVersion, records: before } = zone as LockedZone;
  let records = before;
  let last: Chunk | undefined;
  for (const chunk of chunks) {
    if (last !== undefined) records += (await writeDifference(trx, last)).get(id) ?? 0;
    last = chunk;
  }
  const { source, by } = change;
  const parts = [...others];
  if (domain !== undefined && serial !== undefined) {
    parts.push(sql`numbered as (
      update domains set serial = ${serial}, updated_at = ${domain.now} where id = ${domain.row.id})`);
    if (by !== undefined)
      parts.push(
        ...logWritten(domain, { by, source, operation: 'dnssec' }, { changeId: nextVersion, serial }),
      );
  }
  const changed = changedZone(zone as LockedZone, records);
  await writeLastChange(trx, changed, last, { source, ...(by && { actor: printActor(by) }) }, parts);
  announceAfterCommit(trx);
}
