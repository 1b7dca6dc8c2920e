// Saves and unloads operator zones, each call in one transaction. Only differences are written: unchanged rows are not
// touched, deleted rows become tombstones, and an unchanged zone gets no change.

import { sql } from 'kysely';
import { secondsBetween } from '../../dns/dnssec/signature-time.ts';
import { readSignature } from '../../dns/dnssec/signed-octets.ts';
import type { Name } from '../../dns/name.ts';
import { coveredType } from '../../dns/record/covered-type.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { isNewer, laterSerial, serialIn, withSerial } from '../../zone/serial.ts';
import { isSignal } from '../../zone/signing/signals.ts';
import type { ZoneRecord } from '../../zone/zone.ts';
import { isOfSigner, isWrittenSigned, loadSignedZones, type SignedZone } from '../keys/signed-zone.ts';
import { currentTime } from '../postgres/current-time.ts';
import type { Database } from '../postgres/database.ts';
import { allowLong } from '../postgres/deadlines.ts';
import { decodeNameColumn, encodeNameColumn } from '../postgres/name-column.ts';
import type { ChangeSource } from '../postgres/tables/schema.ts';
import { announce, inTransaction } from '../postgres/transaction.ts';
import { saveSignedZone } from './save-signed-zone.ts';
import {
  type ChangedZone,
  changedZone,
  type LockedZone,
  lockZones,
  writeChanges,
  writeDifference,
} from './write-zone.ts';
import { chunksOf, chunksOfOwners, type RecordRow, recordRows } from './zone-rows.ts';

interface ChangeBy {
  source: ChangeSource;
  actor?: string;
}

export interface SavedZone {
  apex: Name;
  /** The version that is stored now. Unchanged zones keep theirs. */
  version: number;
  outcome: 'created' | 'replaced' | 'unchanged';
  records: number;
}

export interface UnloadedZone {
  apex: Name;
  outcome: 'unloaded' | 'absent';
  version?: number;
}

/** The named zones cannot be saved. The other zones of the call could be. */
export class RefusedZonesError extends Error {
  override readonly name: string = 'RefusedZonesError';
  readonly apexes: readonly Name[];
  /** The reason, for one zone. */
  readonly why: string;

  constructor(names: readonly string[], why: string, whyMany: string) {
    super(names.length === 1 ? `${names[0]} ${why}` : `${names.join(', ')} ${whyMany}`);
    this.why = why;
    this.apexes = names.map(decodeNameColumn);
  }
}

/** The zone is a customer's domain, which cannot be loaded or unloaded as an operator zone. */
export class CustomerZoneError extends RefusedZonesError {
  override readonly name = 'CustomerZoneError';

  constructor(names: readonly string[]) {
    super(
      names,
      "is a customer's domain, not an operator zone",
      "are customers' domains, not operator zones",
    );
  }
}

/** The zone is the copy of a primary's, which only transfers change. */
class CopiedZoneError extends RefusedZonesError {
  override readonly name = 'CopiedZoneError';

  constructor(names: readonly string[]) {
    const how = 'use secondary remove first';
    super(names, `is copied from a primary: ${how}`, `are copied from primaries: ${how}`);
  }
}

/** The zone is a catalog of this fleet, which workers write. */
class CatalogZoneError extends RefusedZonesError {
  override readonly name = 'CatalogZoneError';

  constructor(names: readonly string[]) {
    const how = 'use catalog remove first';
    super(names, `is a catalog of this fleet: ${how}`, `are catalogs of this fleet: ${how}`);
  }
}

const HOW_TO_LOAD = "load it without DNSSEC records, or remove the fleet's signatures first (dnssec disable)";

/** The file has DNSSEC records, but the fleet signs the zone. Only one signer is possible. */
class TwoSignersError extends RefusedZonesError {
  override readonly name = 'TwoSignersError';

  constructor(names: readonly string[]) {
    super(names, `is signed by this fleet: ${HOW_TO_LOAD}`, `are signed by this fleet: ${HOW_TO_LOAD}`);
  }
}

/** Secondaries would not see the change, because the serial is not newer. A signed SOA cannot get another one. */
class OldSerialError extends RefusedZonesError {
  override readonly name = 'OldSerialError';

  constructor(names: readonly string[]) {
    super(names, `has ${OLD_SERIAL}`, `have ${OLD_SERIAL}`);
  }
}

const OLD_SERIAL =
  'other records under a serial that is not newer than the served one: increase it, or use --serial raise if the file has no signatures';

/**
 * Treatment of a changed zone whose serial is not newer than the served one. `newer`: OldSerialError is thrown if peers
 * transfer the zone. `raise`: the zone gets the next serial. `any`: it keeps its serial.
 */
export type SerialRule = 'newer' | 'raise' | 'any';

/**
 * Makes each zone contain exactly these records, which `buildZone` must have accepted. Saves all zones or, on an error,
 * none. Each zone may occur only once per call.
 */
export async function saveZones(
  db: Database,
  zones: readonly ZoneToSave[],
  by: ChangeBy,
  serialRule: SerialRule = 'any',
): Promise<SavedZone[]> {
  if (zones.length === 0) return [];
  const wanted = new Map<string, RecordRow[]>();
  for (const { apex, records } of zones) {
    const name = encodeNameColumn(apex);
    if (wanted.has(name)) throw new RangeError(`${name} is saved twice in one call`);
    wanted.set(name, recordRows(apex, records));
  }
  const { locked, changed } = await inTransaction(db, async (trx) => {
    await allowLong(trx);
    const locked = await lockOperatorZones(trx, [...wanted.keys()], { create: true });
    const signed = await loadSignedZones(trx, [...wanted.keys()]);
    refuseTwoSigners(zones, signed);
    const isPlain = ({ name }: { readonly name: string }) => !isWrittenSigned(signed.get(name));
    const plain = [...locked.values()].filter(isPlain);
    const old = serialRule === 'any' ? [] : await findOldSerials(trx, plain, wanted, serialRule);
    const rows = plain.map((zone) => {
      const of = old.find((one) => one.zone === zone);
      return { zone, rows: (wanted.get(zone.name) ?? []).map((row) => (row === of?.loaded ? of.same : row)) };
    });
    const changed = new Set(plain.filter((zone) => zone.deleted).map((zone) => zone.id));
    for (const chunk of chunksOf(rows)) {
      for (const zoneId of (await writeDifference(trx, chunk)).keys()) changed.add(zoneId);
    }
    const concerned = old.filter(({ zone }) => changed.has(zone.id));
    const isSigned = ({ name }: LockedZone) => wanted.get(name)?.some(({ type }) => type === TYPE.RRSIG);
    const stuck = concerned.filter(({ zone }) => serialRule === 'newer' || isSigned(zone));
    if (stuck.length > 0) throw new OldSerialError(stuck.map(({ zone }) => zone.name));
    for (const { zone, next } of concerned)
      for (const chunk of chunksOfOwners(zone, next.owner, [
        { owner: next.owner, types: [next.type], records: [next] },
      ]))
        await writeDifference(trx, chunk);
    const changes = rows.flatMap(({ zone, rows }) =>
      changed.has(zone.id) ? [changedZone(zone, rows.length)] : [],
    );
    const isOurs = ({ apex }: ZoneToSave) => !isPlain({ name: encodeNameColumn(apex) });
    const ours = zones.filter(isOurs);
    await noteVerbatim(
      trx,
      zones.filter((zone) => !isOurs(zone)),
    );
    for (const one of await saveSignedZones(trx, ours, { locked, signed })) {
      changed.add(one.zoneId);
      changes.push(one);
    }
    await writeChanges(trx, changes, 'zone.save', by);
    return { locked, changed };
  });
  if (changed.size > 0) announce(db);
  return zones.map(({ apex }) => {
    const name = encodeNameColumn(apex);
    const zone = locked.get(name) as LockedZone;
    const records = (wanted.get(name) as RecordRow[]).length;
    if (!changed.has(zone.id)) return { apex, version: zone.version, outcome: 'unchanged', records };
    return { apex, version: zone.nextVersion, outcome: zone.deleted ? 'created' : 'replaced', records };
  });
}

/** A zone whose loaded serial is not newer than the served one. */
interface OldSerial {
  readonly zone: LockedZone;
  readonly loaded: RecordRow;
  /** The loaded SOA with the served serial. */
  readonly same: RecordRow;
  /** The loaded SOA with the serial after the served one. */
  readonly next: ZoneRecord;
}

async function findOldSerials(
  trx: Database,
  zones: readonly LockedZone[],
  wanted: ReadonlyMap<string, readonly RecordRow[]>,
  rule: SerialRule,
): Promise<OldSerial[]> {
  const judged = zones.filter(({ deleted, keepsHistory }) => !deleted && (rule === 'raise' || keepsHistory));
  if (judged.length === 0) return [];
  const { rows } = await sql<{ id: number; rdata: Buffer }>`
    select z.id, r.rdata from zones z join zone_records r on r.zone_id = z.id and r.owner = z.name
    where z.id = any(${judged.map(({ id }) => id)}::bigint[]) and r.type = ${TYPE.SOA} and not r.removed`.execute(
    trx,
  );
  return rows.flatMap(({ id, rdata }) => {
    const zone = judged.find((one) => one.id === id) as LockedZone;
    const loaded = wanted.get(zone.name)?.find(({ type }) => type === TYPE.SOA) as RecordRow;
    const [ours, served] = [serialIn(loaded.rdata), serialIn(rdata)];
    if (isNewer(ours, served)) return [];
    const withOther = (serial: number) => ({
      ...loaded,
      rdata: Buffer.from(withSerial(loaded.rdata, serial)),
    });
    const next = { ...withOther(laterSerial(ours, served)), owner: decodeNameColumn(zone.name) };
    return [{ zone, loaded, same: withOther(served), next }];
  });
}

type ZoneToSave = { readonly apex: Name; readonly records: readonly ZoneRecord[] };

function refuseTwoSigners(zones: readonly ZoneToSave[], signed: ReadonlyMap<string, SignedZone>): void {
  const refused = zones.filter(({ apex, records }) => {
    const ours = signed.get(encodeNameColumn(apex));
    const isOurs = ours !== undefined && ours.phase !== 'off' && ours.phase !== 'unsigning';
    return isOurs && records.some((record) => isOfSigner(apex, record) || isSignal(apex, record));
  });
  if (refused.length > 0) throw new TwoSignersError(refused.map(({ apex }) => encodeNameColumn(apex)));
}

/** Returns the zones that changed. */
async function saveSignedZones(
  trx: Database,
  zones: readonly ZoneToSave[],
  { locked, signed }: { locked: ReadonlyMap<string, LockedZone>; signed: ReadonlyMap<string, SignedZone> },
): Promise<ChangedZone[]> {
  const changes: ChangedZone[] = [];
  if (zones.length === 0) return changes;
  const now = await currentTime(trx);
  for (const { apex, records } of zones) {
    const name = encodeNameColumn(apex);
    const order = { apex, records, signed: signed.get(name) as SignedZone, now };
    const changed = await saveSignedZone(trx, locked.get(name) as LockedZone, order);
    if (changed !== undefined) changes.push(changed);
  }
  return changes;
}

/** Removes zones from service and deletes their rows. A node that missed it sees the version and reloads. */
export async function unloadZones(
  db: Database,
  apexes: readonly Name[],
  by: ChangeBy,
): Promise<UnloadedZone[]> {
  const names = apexes.map(encodeNameColumn);
  const unloaded = await inTransaction(db, async (trx) => {
    await allowLong(trx);
    const locked = await lockOperatorZones(trx, [...new Set(names)], { create: false });
    const present = [...locked.values()].filter((zone) => !zone.deleted);
    const ids = present.map((zone) => zone.id);
    await sql`delete from zone_records where zone_id = any(${ids}::bigint[])`.execute(trx);
    await noteVerbatim(
      trx,
      present.map(({ name }) => ({ apex: decodeNameColumn(name), records: [] })),
    );
    await writeChanges(
      trx,
      present.map((zone) => changedZone(zone, undefined)),
      'zone.unload',
      by,
    );
    return new Map(present.map((zone) => [zone.name, zone.nextVersion]));
  });
  if (unloaded.size > 0) announce(db);
  return apexes.map((apex, i) => {
    const version = unloaded.get(names[i] as string);
    return version === undefined ? { apex, outcome: 'absent' } : { apex, outcome: 'unloaded', version };
  });
}

/**
 * Throws `CustomerZoneError` if one of the zones is a customer's, and another `RefusedZonesError` if one is a catalog of
 * this fleet, or a copy unless `copies` allows them.
 */
export async function lockOperatorZones(
  trx: Database,
  names: readonly string[],
  { create, copies = false }: { readonly create: boolean; readonly copies?: boolean },
): Promise<Map<string, LockedZone>> {
  const locked = await lockZones(trx, names, create);
  const domains = [...locked.values()].filter((zone) => zone.kind === 'domain');
  if (domains.length > 0) throw new CustomerZoneError(domains.map((zone) => zone.name));
  const { rows } = await sql<{ name: string; isCatalog: boolean }>`
    select zone_name as name, false as "isCatalog" from secondaries where zone_name = any(${names}::text[])
    union all
    select name, true from catalogs where role = 'producer' and name = any(${names}::text[]) order by 1`.execute(
    trx,
  );
  const catalogs = rows.filter(({ isCatalog }) => isCatalog);
  if (catalogs.length > 0) throw new CatalogZoneError(catalogs.map(({ name }) => name));
  if (rows.length > 0 && !copies) throw new CopiedZoneError(rows.map(({ name }) => name));
  return locked;
}

interface LoadedZone {
  readonly apex: Name;
  readonly records: Iterable<ZoneRecord>;
}

/**
 * Records when the first signature of zones signed by others expires, which operators monitor, because the fleet does
 * not renew it. The zones were loaded or (without records) unloaded, and the fleet does not sign them.
 */
export async function noteVerbatim(trx: Database, zones: readonly LoadedZone[]): Promise<void> {
  if (zones.length === 0) return;
  const at = Math.floor((await currentTime(trx)).getTime() / 1000);
  const names: string[] = [];
  const signed: { name: string; endsAt: number }[] = [];
  for (const { apex, records } of zones) {
    const name = encodeNameColumn(apex);
    const endsAt = firstEnd(apex, records, at);
    names.push(name);
    if (endsAt !== undefined) signed.push({ name, endsAt });
  }
  await writeVerbatim(trx, names, signed);
}

/** Records when the first signature of these zones expires. Those that are not in `signed` have none. */
export async function writeVerbatim(
  trx: Database,
  names: readonly string[],
  signed: readonly { readonly name: string; readonly endsAt: number }[],
): Promise<void> {
  const ended = names.filter((name) => !signed.some((one) => one.name === name));
  await sql`
    delete from signed_zones s where s.zone_name = any(${ended}::text[]) and s.verbatim
      and not exists (select from signing_keys k where k.signed_zone_id = s.id)`.execute(trx);
  // A zone that the fleet once signed keeps its keys.
  await sql`
    update signed_zones set verbatim = false, expires_at = null
    where zone_name = any(${ended}::text[]) and verbatim`.execute(trx);
  await sql`
    insert into signed_zones as s (zone_name, goal, denial, algorithm, phase, verbatim, expires_at)
    select n.name, 'unsigned', 'nsec', 13, 'off', true, to_timestamp(n."endsAt")
    from jsonb_to_recordset(${JSON.stringify(signed)}::jsonb) as n(name text, "endsAt" float8)
    on conflict (zone_name) do update set verbatim = true, expires_at = excluded.expires_at
      where s.phase = 'off'`.execute(trx);
}

/** Returns seconds since 1970, or undefined if the zone is answered as unsigned. */
function firstEnd(apex: Name, records: Iterable<ZoneRecord>, at: number): number | undefined {
  let left = Number.POSITIVE_INFINITY;
  let isSigned = false;
  for (const { owner, type, rdata } of records) {
    if (type !== TYPE.RRSIG) continue;
    if (owner === apex && coveredType(rdata) === TYPE.SOA) isSigned = true;
    left = Math.min(left, secondsBetween(at, readSignature(rdata).expiration));
  }
  return isSigned ? at + left : undefined;
}
