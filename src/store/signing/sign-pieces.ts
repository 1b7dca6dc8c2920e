// Signs a large zone that stands unsigned: it is read and signed without a lock, and written in pieces, which change no
// answer as long as the SOA has no signature. Edits meanwhile write their names as of an unsigned zone; the last piece signs
// those names, and the apex.

import { sql } from 'kysely';
import type { Name } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { OwnerRows } from '../../zone/signing/plan-rows.ts';
import { rowPieces } from '../../zone/signing/row-pieces.ts';
import type { ZoneRecord } from '../../zone/zone.ts';
import type { ChangedBy } from '../accounts/actor.ts';
import { readWhole } from '../keys/read-zone-rows.ts';
import { signChange } from '../keys/sign-change.ts';
import { findSignedZone, type SignedZone } from '../keys/signed-zone.ts';
import { currentTime } from '../postgres/current-time.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn, encodeNameColumn } from '../postgres/name-column.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { isOfSigner } from '../zones/save-signed-zone.ts';
import { type LockedSubject, lockSubject, type Subject, subjectOf } from './lock-signed-zone.ts';
import { writeOwners, writeSigning } from './write-signing.ts';

const DENIAL_TYPES = [TYPE.RRSIG, TYPE.NSEC, TYPE.NSEC3] as const;
const BY: ChangedBy = { by: { kind: 'system' }, source: 'signing' };

/**
 * `signed`: all of it is. `gone`: there is nothing to sign here. Killed at any time, it goes on when it is called again: what
 * was written is kept. Rejects with the signal's reason when that aborts.
 */
export async function signInPieces(
  db: Database,
  signedZoneId: number,
  signal: AbortSignal,
): Promise<'signed' | 'gone'> {
  const subject = await subjectOf(db, signedZoneId);
  const signed = await findSignedZone(db, sql`s.id = ${signedZoneId}`);
  const zone = subject && (await findZone(db, subject));
  if (subject === undefined || signed?.phase !== 'signing') return 'gone';
  if (zone === undefined) return await inTransaction(db, (trx) => close(trx, subject, undefined));
  const planned = await planWhole(db, zone, signed);
  const missing = new Map<Name, ZoneRecord>();
  for (const { owner, records } of planned) {
    const nsec = records.find(({ type }) => type === TYPE.NSEC);
    if (nsec !== undefined) missing.set(owner, nsec);
  }
  for (const piece of rowPieces(madeRows(planned, zone.apex))) {
    signal.throwIfAborted();
    const going = await inTransaction(db, (trx) => writePiece(trx, subject, piece, zone.version));
    if (!going) return 'gone';
  }
  const seen = await findZone(db, subject);
  const early = await changedNames(db, zone.id, zone.version);
  return await inTransaction(db, (trx) =>
    close(trx, subject, { early, since: seen?.version ?? zone.version, missing }),
  );
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

/** What changed after the version of the zone is read too, and is not written. */
async function planWhole(db: Database, zone: ZoneAtVersion, signed: SignedZone): Promise<OwnerRows[]> {
  const { id: zoneId, apex } = zone;
  const wanted = new Map<Name, ZoneRecord[]>();
  for (const record of await readWhole(db, zoneId)) {
    if (isOfSigner(apex, record)) continue;
    const same = wanted.get(record.owner);
    if (same === undefined) wanted.set(record.owner, [record]);
    else same.push(record);
  }
  if (!wanted.has(apex)) return []; // it was unloaded at this moment
  return await signChange(db, { zoneId, apex, signed, now: await currentTime(db), wanted, isWhole: true });
}

/** Signatures and denials; the apex is written last. */
function madeRows(planned: readonly OwnerRows[], apex: Name): OwnerRows[] {
  return planned
    .filter(({ owner }) => owner !== apex)
    .map(({ owner, records }) => ({
      owner,
      types: DENIAL_TYPES,
      records: records.filter(({ type }) => (DENIAL_TYPES as readonly number[]).includes(type)),
    }));
}

/** False: the zone is to be signed no more. Names that changed since it was read are left to the last piece. */
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
  if (still.length > 0) await writeOwners(trx, locked, still, 'refresh');
  return true;
}

function isGoingOn(locked: LockedSubject | undefined): locked is LockedSubject {
  return locked?.signed?.phase === 'signing' && locked.zone !== undefined && !locked.zone.deleted;
}

/**
 * Names with rows that others wrote or removed since, also those of ours that went with an edit. Owners of NSEC3 are no names,
 * and no edit concerns them.
 */
export async function changedNames(db: Database, zoneId: number, since: number): Promise<Name[]> {
  const { rows } = await sql<{ owner: string }>`
    select distinct owner from zone_records
    where zone_id = ${zoneId} and version > ${since} and (type not in (46, 47, 50) or removed and type = 47
      or removed and type = 46 and get_byte(rdata, 0) * 256 + get_byte(rdata, 1) <> 50)`.execute(db);
  return rows.map(({ owner }) => decodeNameColumn(owner));
}

interface Closing {
  /** Names that changed before the version `since`. */
  readonly early: readonly Name[];
  readonly since: number;
  readonly missing: ReadonlyMap<Name, ZoneRecord>;
}

async function close(
  trx: Database,
  subject: Subject,
  closing: Closing | undefined,
): Promise<'signed' | 'gone'> {
  const locked = await lockSubject(trx, subject);
  if (locked?.signed?.phase !== 'signing') return 'gone';
  const { zone, apex } = locked;
  const signed: SignedZone = { ...locked.signed, phase: 'waiting' };
  await sql`update signed_zones set phase = 'waiting', seq = seq + 1 where id = ${signed.id}`.execute(trx);
  if (zone === undefined || zone.deleted) return 'signed'; // it is signed when it is served
  if (closing === undefined) {
    await writeSigning(trx, locked, { signed, names: 'whole' }, BY);
    return 'signed';
  }
  const { early, since } = closing;
  const late = await changedNames(trx, zone.id, since);
  const names = new Set([...early, ...late, apex]);
  const missing = new Map([...closing.missing].filter(([owner]) => names.has(owner)));
  await writeSigning(trx, locked, { signed, names: [...names], missing }, BY);
  return 'signed';
}
