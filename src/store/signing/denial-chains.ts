// Adds and removes a denial chain (NSEC or NSEC3) of a large signed zone.

import { sql } from 'kysely';
import type { Name } from '../../dns/name.ts';
import { coveredType } from '../../dns/record/covered-type.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { denialType } from '../../zone/signing/denial-records.ts';
import type { OwnerRows } from '../../zone/signing/plan-rows.ts';
import { recordsByOwner } from '../../zone/signing/standing.ts';
import type { ZoneRecord } from '../../zone/zone.ts';
import type { ChangedBy } from '../accounts/actor.ts';
import { forgetNames } from '../keys/hashed-names.ts';
import { readOwners } from '../keys/read-zone-rows.ts';
import { signChain } from '../keys/sign-whole.ts';
import { findSignedZone, isWrittenSigned, otherDenial, type SignedZone } from '../keys/signed-zone.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn, encodeNameColumn } from '../postgres/name-column.ts';
import { inTransaction } from '../postgres/transaction.ts';
import type { LockedZone } from '../zones/write-zone.ts';
import { setDenial } from './change-denial.ts';
import { changedNames, findZone, type ZoneAtVersion } from './sign-pieces.ts';
import {
  type LockedSubject,
  lockSubject,
  type Subject,
  subjectOf,
  writeOwners,
  writeSigning,
} from './write-signing.ts';

const BY: ChangedBy = { by: { kind: 'system' }, source: 'signing' };
/** Names that the last transaction reads again. If there are more, the zone is read once more, with twice this limit. */
const MOST_CHANGED = 500;

/**
 * Adds the chain of the other kind. It is planned and signed in a thread, without a lock, and written in pieces next to
 * the chain that answers use, until few changed names are left. The last transaction writes these, and adds or removes
 * the NSEC3PARAM record: from then on answers use the new chain (RFC 5155 §10.4, §10.5). Returns `changed` if answers
 * use the new chain, so that the old one must be removed, and `gone` if the chain is no longer wanted. If killed, the
 * next call continues and keeps what is correct. Rejects with the signal's reason if that aborts.
 */
export async function addChain(
  db: Database,
  signedZoneId: number,
  signal: AbortSignal,
): Promise<'changed' | 'gone'> {
  for (let most = MOST_CHANGED; ; most *= 2) {
    const subject = await subjectOf(db, signedZoneId);
    const signed = await findSignedZone(db, sql`s.id = ${signedZoneId}`);
    if (subject === undefined || !isAdding(signed)) return 'gone';
    const zone = await findZone(db, subject);
    const chain = zone && (await writeChain(db, { subject, signed, zone }, signal));
    if (chain === 'gone') return 'gone';
    signal.throwIfAborted();
    const closed = await inTransaction(db, (trx) => close(trx, subject, chain, most));
    if (closed !== 'again') return closed;
  }
}

function isAdding(signed: SignedZone | undefined): signed is SignedZone {
  return isWrittenSigned(signed) && signed.denialChange === 'adding';
}

interface ZoneToChain {
  readonly subject: Subject;
  readonly signed: SignedZone;
  readonly zone: ZoneAtVersion;
}

/** The existing part of the new chain, as of a version of the zone. */
interface WrittenChain {
  readonly since: number;
  readonly keys: string;
  /** The versions that writing its pieces created. */
  readonly versions: readonly number[];
  /** True if the chain was complete already, or was written in one piece. */
  readonly isNearlyWhole: boolean;
  /** Owners that others have written in the meantime. */
  readonly skipped: readonly Name[];
  readonly links: ReadonlyMap<Name, ZoneRecord>;
}

async function writeChain(
  db: Database,
  { subject, signed, zone }: ZoneToChain,
  signal: AbortSignal,
): Promise<WrittenChain | 'gone'> {
  const { version: since } = zone;
  const links = new Map<Name, ZoneRecord>();
  const versions: number[] = [];
  const skipped: Name[] = [];
  for await (const piece of signChain(db, { ...zone, signed, links }, signal)) {
    signal.throwIfAborted();
    const written = await inTransaction(db, (trx) => writePiece(trx, subject, piece, since));
    if (written === undefined) return 'gone';
    versions.push(written.version);
    skipped.push(...written.skipped);
  }
  return { since, keys: keysOf(signed), versions, isNearlyWhole: versions.length <= 1, skipped, links };
}

function keysOf({ keys }: SignedZone): string {
  return keys.map(({ id, signs }) => `${id} ${signs}`).join();
}

/** Returns undefined if the chain is no longer wanted. Rows that others wrote since the zone was read are kept. */
async function writePiece(
  trx: Database,
  subject: Subject,
  piece: readonly OwnerRows[],
  since: number,
): Promise<{ version: number; skipped: Name[] } | undefined> {
  const locked = await lockSubject(trx, subject);
  if (!isGoingOn(locked)) return undefined;
  const zone = locked.zone as LockedZone;
  const owners = piece.map(({ owner }) => owner);
  const texts = owners.map(encodeNameColumn);
  const { rows } = await sql<{ owner: string }>`
    select distinct owner from zone_records
    where zone_id = ${zone.id} and owner = any(${texts}::text[]) and version > ${since}`.execute(trx);
  const changed = new Set(rows.map(({ owner }) => owner));
  const still = piece.filter((_, i) => !changed.has(texts[i] as string));
  if (still.length > 0) await writeOwners(trx, locked, still);
  return {
    version: zone.nextVersion,
    skipped: owners.filter((_, i) => changed.has(texts[i] as string)),
  };
}

function isGoingOn(locked: LockedSubject | undefined): locked is LockedSubject {
  return locked !== undefined && isAdding(locked.signed) && locked.zone !== undefined && !locked.zone.deleted;
}

/** `chain` is undefined if the zone was not served. */
async function close(
  trx: Database,
  subject: Subject,
  chain: WrittenChain | undefined,
  most: number,
): Promise<'changed' | 'gone' | 'again'> {
  const locked = await lockSubject(trx, subject);
  if (locked === undefined || !isAdding(locked.signed)) return 'gone';
  const { zone, signed } = locked;
  const isServed = zone !== undefined && !zone.deleted;
  if (isServed && chain === undefined) return 'again';
  const changed = isServed && chain ? await changedNames(trx, zone.id, chain.since) : [];
  const left = changed.length + (chain?.skipped.length ?? 0);
  if (isServed && chain && (left > most || !(await isWhole(trx, locked, chain)))) return 'again';
  const denial = otherDenial(signed.denial);
  await setDenial(trx, signed.id, denial, 'removing');
  if (!isServed || chain === undefined) return 'changed'; // the chain is written when the zone is served
  const names = new Set([...changed, ...chain.skipped, locked.apex]);
  const missing = new Map([...chain.links].filter(([owner]) => names.has(owner)));
  const after: SignedZone = { ...signed, denial, denialChange: 'removing' };
  await writeSigning(trx, locked, { signed: after, names: [...names], missing }, BY);
  return 'changed';
}

/** Returns true if the chain is complete except for changed names. */
async function isWhole(
  trx: Database,
  { zone, signed }: LockedSubject,
  { since, keys, versions, isNearlyWhole }: WrittenChain,
): Promise<boolean> {
  if (!isNearlyWhole || keysOf(signed as SignedZone) !== keys) return false;
  if (signed?.denial === 'nsec3') return true;
  // A writer of the whole zone writes one chain and drops unused NSEC3 records. NSEC is removed with its name.
  const { rows } = await sql`
    select from zone_records
    where zone_id = ${zone?.id} and type = ${denialType('nsec3')} and version > ${since}
      and version <> all(${versions}::bigint[]) limit 1`.execute(trx);
  return rows.length === 0;
}

const PIECE_OWNERS = 250;
const PIECE_NAMES = 5000;

/**
 * Removes the denial records of the kind that the zone no longer uses, in pieces. They are not part of any answer. If
 * killed, the next call continues. Rejects with the signal's reason if that aborts.
 */
export async function removeChain(db: Database, signedZoneId: number, signal: AbortSignal): Promise<void> {
  const subject = await subjectOf(db, signedZoneId);
  if (subject === undefined) return;
  for (let isMore = true; isMore; ) {
    signal.throwIfAborted();
    isMore = await inTransaction(db, (trx) => removePiece(trx, subject));
  }
}

async function removePiece(trx: Database, subject: Subject): Promise<boolean> {
  const locked = await lockSubject(trx, subject);
  if (locked?.signed?.denialChange !== 'removing') return false;
  const { zone, signed } = locked;
  const type = denialType(otherDenial(signed.denial));
  const owners = zone === undefined || zone.deleted ? [] : await nextOwners(trx, zone.id, type);
  if (owners.length === 0) {
    const isHashed = signed.denial === 'nsec3';
    if (!isHashed && zone !== undefined && (await forgetNames(trx, zone.id, PIECE_NAMES)) > 0) return true;
    await setDenial(trx, signed.id, signed.denial, null);
    return false;
  }
  const rows = recordsByOwner(await readOwners(trx, (zone as LockedZone).id, owners));
  const left = [...rows].map(([owner, records]): OwnerRows => {
    const stays = records.filter((one) => one.type === TYPE.RRSIG && coveredType(one.rdata) !== type);
    return { owner, types: [TYPE.RRSIG, type], records: stays };
  });
  await writeOwners(trx, locked, left);
  return true;
}

async function nextOwners(trx: Database, zoneId: number, type: number): Promise<Name[]> {
  const { rows } = await sql<{ owner: string }>`
    select distinct owner from (
      select owner from zone_records
      where zone_id = ${zoneId} and type = ${type} and place is not null and not removed
      order by place limit ${PIECE_OWNERS}) next`.execute(trx);
  return rows.map(({ owner }) => decodeNameColumn(owner));
}
