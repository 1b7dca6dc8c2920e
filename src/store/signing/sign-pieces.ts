// Signs a large unsigned zone. It is read and signed in another thread without a lock, and written in pieces, which
// change no answer but the serial as long as the SOA has no signature. Concurrent edits write their names as in an unsigned zone.
// These names are signed after all pieces are written, a few at a time, and the apex together with the last ones.

import { sql } from 'kysely';
import type { Name } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { OwnerRows } from '../../zone/signing/plan-rows.ts';
import type { ZoneRecord } from '../../zone/zone.ts';
import type { ChangedBy } from '../accounts/actor.ts';
import { noteEdgeZone } from '../keys/sign-change.ts';
import { signWhole } from '../keys/sign-whole.ts';
import { findSignedZone, type SignedZone } from '../keys/signed-zone.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn, encodeNameColumn } from '../postgres/name-column.ts';
import { inTransaction } from '../postgres/transaction.ts';
import {
  type LockedSubject,
  lockSubject,
  type Subject,
  subjectOf,
  writeBelowApex,
  writeOwners,
  writeSigning,
} from './write-signing.ts';

const DENIAL_TYPES = [TYPE.RRSIG, TYPE.NSEC, TYPE.NSEC3] as const;
const BY: ChangedBy = { by: { kind: 'system' }, source: 'signing' };
/** Names that one transaction signs, while edits of the zone wait. */
const NAMES_AT_ONCE = 40;
/** If more names have changed, the whole zone is read and signed again, which keeps valid signatures. */
const MOST_CHANGED = 1000;

/**
 * Returns `signed` if the whole zone is signed, and `gone` if there is nothing to sign. If killed, the next call
 * continues and keeps what was written. Rejects with the signal's reason if that aborts.
 */
export async function signInPieces(
  db: Database,
  signedZoneId: number,
  signal: AbortSignal,
): Promise<'signed' | 'gone'> {
  const subject = await subjectOf(db, signedZoneId);
  const signed = await findSignedZone(db, sql`s.id = ${signedZoneId}`);
  if (subject === undefined || signed?.phase !== 'signing') return 'gone';
  for (;;) {
    const zone = await findZone(db, subject);
    if (zone === undefined) return await inTransaction(db, (trx) => closeUnserved(trx, subject));
    const left = new LeftNames(zone.version);
    const isGoingOn = await writePieces(db, { subject, zone, signed, left }, signal);
    if (!isGoingOn) return 'gone';
    await left.find(db, zone.id);
    let outcome: 'signed' | 'gone' | 'more' = 'more';
    while (outcome === 'more' && left.names.size <= MOST_CHANGED) {
      signal.throwIfAborted();
      outcome = await inTransaction(db, (trx) => writeLeft(trx, subject, left));
    }
    if (outcome !== 'more') return outcome;
  }
}

export interface ZoneAtVersion {
  readonly id: number;
  readonly apex: Name;
  readonly version: number;
}

export async function findZone(db: Database, subject: Subject): Promise<ZoneAtVersion | undefined> {
  const condition =
    'zoneName' in subject
      ? sql`name = ${subject.zoneName} and kind = 'operator'`
      : sql`id = (select zone_id from domains where id = ${subject.domainId})`;
  const { rows } = await sql<{ id: number; name: string; version: number }>`
    select id, name, version from zones where ${condition} and deleted_at is null`.execute(db);
  const [row] = rows;
  return row && { id: row.id, apex: decodeNameColumn(row.name), version: row.version };
}

interface Pieces {
  readonly subject: Subject;
  readonly zone: ZoneAtVersion;
  readonly signed: SignedZone;
  readonly left: LeftNames;
}

/** Returns false if the zone should no longer be signed. */
async function writePieces(
  db: Database,
  { subject, zone, signed, left }: Pieces,
  signal: AbortSignal,
): Promise<boolean> {
  for await (const planned of signWhole(db, zone, signed, signal)) {
    signal.throwIfAborted();
    left.learn(planned);
    const piece = madeRows(planned, zone.apex);
    const isGoingOn = await inTransaction(db, (trx) => writePiece(trx, subject, piece, zone.version));
    if (!isGoingOn) return false;
  }
  return true;
}

/** Returns signatures and denial records, without the apex, which is written last. */
function madeRows(planned: readonly OwnerRows[], apex: Name): OwnerRows[] {
  return planned
    .filter(({ owner }) => owner !== apex)
    .map(({ owner, records }) => ({
      owner,
      types: DENIAL_TYPES,
      records: records.filter(({ type }) => (DENIAL_TYPES as readonly number[]).includes(type)),
    }));
}

/** Returns false if the zone should no longer be signed. Skips names that changed since the zone was read. */
async function writePiece(
  trx: Database,
  subject: Subject,
  piece: readonly OwnerRows[],
  since: number,
): Promise<boolean> {
  const locked = await lockSubject(trx, subject);
  if (!isGoingOn(locked)) return false;
  const owners = piece.map(({ owner }) => encodeNameColumn(owner));
  const { rows } = await sql<{ owner: string }>`
    select distinct owner from zone_records
    where zone_id = ${locked.zone?.id} and owner = any(${owners}::text[]) and version > ${since}`.execute(
    trx,
  );
  const changed = new Set(rows.map(({ owner }) => owner));
  const still = piece.filter((_, i) => !changed.has(owners[i] as string));
  if (still.length > 0) await writeOwners(trx, locked, still);
  return true;
}

function isGoingOn(locked: LockedSubject | undefined): locked is LockedSubject {
  return locked?.signed?.phase === 'signing' && locked.zone !== undefined && !locked.zone.deleted;
}

/** Names that changed while pieces were written, and the NSEC records to which preceding ones point. */
class LeftNames {
  readonly names = new Set<Name>();
  /** The NSEC records of all planned names; at the end, only of the remaining names and the apex. */
  readonly #nsec = new Map<Name, ZoneRecord>();
  /** The version of the zone up to which changes were searched for. */
  #since: number;

  constructor(since: number) {
    this.#since = since;
  }

  learn(planned: readonly OwnerRows[]): void {
    for (const { owner, records } of planned) {
      const nsec = records.find(({ type }) => type === TYPE.NSEC);
      if (nsec !== undefined) this.#nsec.set(owner, nsec);
    }
  }

  /** Searches without a lock, so that few names are left to find under it. */
  async find(db: Database, zoneId: number): Promise<void> {
    const { rows } = await sql<{ version: number }>`select version from zones where id = ${zoneId}`.execute(
      db,
    );
    await this.findUpTo(db, zoneId, rows[0]?.version ?? this.#since);
  }

  async findUpTo(db: Database, zoneId: number, version: number): Promise<void> {
    for (const name of await changedNames(db, zoneId, this.#since)) this.names.add(name);
    this.#since = version;
  }

  missing(apex: Name): Map<Name, ZoneRecord> {
    const missing = new Map<Name, ZoneRecord>();
    for (const name of [apex, ...this.names]) {
      const nsec = this.#nsec.get(name);
      if (nsec !== undefined) missing.set(name, nsec);
    }
    return missing;
  }

  /** Records that these names were written. Other written rows may be neighbours that still remain themselves. */
  note(names: readonly Name[], written: readonly OwnerRows[], version: number): void {
    this.learn(written);
    for (const name of names) this.names.delete(name);
    this.#since = version;
  }
}

/**
 * Returns names with rows that others have written or removed since this version, including signatures that an edit
 * removed. Owners of NSEC3 records are not names of the zone.
 */
export async function changedNames(db: Database, zoneId: number, since: number): Promise<Name[]> {
  const { rows } = await sql<{ owner: string }>`
    select distinct owner from zone_records
    where zone_id = ${zoneId} and version > ${since} and (type not in (46, 47, 50) or removed and type = 47
      or removed and type = 46 and get_byte(rdata, 0) * 256 + get_byte(rdata, 1) <> 50)`.execute(db);
  return rows.map(({ owner }) => decodeNameColumn(owner));
}

/** Signs some of the remaining names, or all of them with the apex. */
async function writeLeft(
  trx: Database,
  subject: Subject,
  left: LeftNames,
): Promise<'signed' | 'gone' | 'more'> {
  const locked = await lockSubject(trx, subject);
  if (locked?.signed?.phase !== 'signing') return 'gone';
  const { zone, apex, signed } = locked;
  if (zone === undefined || zone.deleted) return await closeUnserved(trx, subject);
  await left.findUpTo(trx, zone.id, zone.version);
  left.names.delete(apex);
  const missing = left.missing(apex);
  if (left.names.size > NAMES_AT_ONCE) {
    const names = [...left.names].slice(0, NAMES_AT_ONCE);
    const written = await writeBelowApex(trx, locked, { signed, names, missing });
    left.note(names, written, zone.nextVersion);
    return 'more';
  }
  await markSigned(trx, signed);
  const names = [...left.names, apex];
  await writeSigning(trx, locked, { signed: { ...signed, phase: 'waiting' }, names, missing }, BY);
  await noteEdgeZone(trx, zone.id);
  return 'signed';
}

/** Marks an unserved zone as signed. It gets its signatures when it is served. */
async function closeUnserved(trx: Database, subject: Subject): Promise<'signed' | 'gone'> {
  const locked = await lockSubject(trx, subject);
  if (locked?.signed?.phase !== 'signing') return 'gone';
  const { zone, signed } = locked;
  await markSigned(trx, signed);
  if (zone === undefined || zone.deleted) return 'signed';
  await writeSigning(trx, locked, { signed: { ...signed, phase: 'waiting' }, names: 'whole' }, BY);
  return 'signed';
}

async function markSigned(trx: Database, { id }: SignedZone): Promise<void> {
  await sql`update signed_zones set phase = 'waiting', seq = seq + 1 where id = ${id}`.execute(trx);
}
