// Renews the signatures of a zone before they expire. Those of a small zone are computed under its lock, with few
// statements. Those of a large zone are computed without a lock, then written where nothing has changed. Only RRSIG and
// SOA records are written.

import { type RawBuilder, sql } from 'kysely';
import { readKeeping } from '../../dns/dnssec/signed-octets.ts';
import type { Name } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { planRefresh } from '../../zone/signing/plan-refresh.ts';
import type { OwnerRows, Signers } from '../../zone/signing/plan-rows.ts';
import { signSets } from '../../zone/signing/sign-set.ts';
import { dueAt, remakeBefore, type SignatureTimes, signatureTimes } from '../../zone/signing/validity.ts';
import type { ZoneRecord } from '../../zone/zone.ts';
import { readOwners, readWhole } from '../keys/read-zone-rows.ts';
import { signaturesRenewed, zoneKeys } from '../keys/sign-change.ts';
import { findSignedZone, isWrittenSigned, type SignedZone } from '../keys/signed-zone.ts';
import { currentTime } from '../postgres/current-time.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn, encodeNameColumn } from '../postgres/name-column.ts';
import { inOneTrip } from '../postgres/pool-driver.ts';
import { inTransaction } from '../postgres/transaction.ts';
import type { LockedZone } from '../zones/write-zone.ts';
import { SMALL_ZONE_ROWS } from './enable-signing.ts';
import {
  isOfSoa,
  type LockedSubject,
  lockSubject,
  type Subject,
  subjectOf,
  writeOwners,
} from './write-signing.ts';

/** Signatures per change. Planning them takes some milliseconds, and so does writing them under the lock. */
const PIECE = 300;

interface Refreshed {
  readonly made: number;
  /** When the first signature expires, in seconds since 1970; null if there are none. */
  readonly expiresAt: number | null;
}

interface Due {
  readonly subject: Subject;
  readonly zoneId: number;
  readonly apex: Name;
  readonly version: number;
  readonly signed: SignedZone;
}

/** Throws DnssecUnavailable. Rejects with the signal's reason if that aborts; what is written stays. */
export async function refreshSignatures(
  db: Database,
  signedZoneId: number,
  signal: AbortSignal,
): Promise<Refreshed> {
  const small = await inTransaction(db, (trx) => refreshSmall(trx, signedZoneId));
  if (small !== undefined) return small;
  let made = 0;
  let isChanged = false;
  for (let after: string | undefined = '', salt = 0; after !== undefined; salt++) {
    signal.throwIfAborted();
    const due = await findDue(db, signedZoneId);
    if (due === undefined) break;
    const piece: Piece = await refreshPiece(db, due, { after, salt });
    made += piece.made;
    isChanged ||= piece.isChanged;
    after = piece.last;
    if (after === undefined && isChanged) {
      // Once more from the first owner, because names that changed in the meantime may still be due.
      after = '';
      isChanged = false;
    }
  }
  return { made, expiresAt: await noteEarliest(db, signedZoneId) };
}

/** Returns undefined if the zone is large, is not signed or not served, or if nothing is due. */
async function refreshSmall(trx: Database, signedZoneId: number): Promise<Refreshed | undefined> {
  const subject = await subjectOf(trx, signedZoneId);
  const locked = subject && (await lockSubject(trx, subject));
  if (locked === undefined) return undefined;
  const { zone, signed, apex, now } = locked;
  if (zone === undefined || zone.deleted || zone.records > SMALL_ZONE_ROWS || !isWrittenSigned(signed))
    return undefined;
  const at = Math.floor(now.getTime() / 1000);
  const before = remakeBefore(at, 'refresh');
  const trip = inOneTrip(trx);
  const [keys, present] = await Promise.all([zoneKeys(trip, signed), readWhole(trip, zone.id)]);
  const signers: Signers = { apex, keys, remakeBefore: before };
  const isServedSoa = (record: ZoneRecord) => record.owner === apex && isOfSoa(record);
  const plan = planRefresh(
    present.filter((record) => !isServedSoa(record)),
    signers,
  );
  const isSoaDue = present.some((one) => isServedSoa(one) && (expirationOf(one) ?? before) < before);
  if (plan.planned.length === 0 && !isSoaDue) return undefined;
  const times = signatureTimes(apex, at);
  const owners = plan.rows(await signSets(plan.toSign, { zone: apex, times }));
  const replaced = new Set(owners.map(({ owner }) => owner));
  const others = present.filter((record) => !replaced.has(record.owner) && !isServedSoa(record));
  const kept = [...others, ...owners.flatMap(({ records }) => records)];
  const expiresAt = Math.min(times.expiration, ...expirationsOf(kept));
  await writeOwners(trx, locked, owners, {
    times,
    present,
    others: [leaseEnded(signedZoneId, expiresAt), signaturesRenewed(zone.id)],
  });
  return { made: plan.toSign.length + signers.keys.data.length, expiresAt };
}

/** Returns undefined for records that are not signatures. */
function expirationOf({ type, rdata }: ZoneRecord): number | undefined {
  return type === TYPE.RRSIG ? readKeeping(rdata).expiration : undefined;
}

function expirationsOf(records: readonly ZoneRecord[]): number[] {
  return records.flatMap((record) => expirationOf(record) ?? []);
}

/** Ends the lease of the zone, and records when its first signature expires, as a part of a WITH. */
function leaseEnded(signedZoneId: number, expiresAt: number | null): RawBuilder<unknown> {
  return sql`ended as (
    update signed_zones set leased_until = null, expires_at = to_timestamp(${expiresAt}),
      resign_at = to_timestamp(${expiresAt === null ? null : dueAt(expiresAt)})
    where id = ${signedZoneId})`;
}

/** Returns undefined if the zone is not signed or not served. */
async function findDue(db: Database, signedZoneId: number): Promise<Due | undefined> {
  const subject = await subjectOf(db, signedZoneId);
  const signed = await findSignedZone(db, sql`s.id = ${signedZoneId}`);
  if (subject === undefined || !isWrittenSigned(signed)) return undefined;
  const { rows } = await sql<{ id: number; name: string; version: number }>`
    select z.id, z.name, z.version from zones z
    where z.deleted_at is null and ${
      'zoneName' in subject
        ? sql`z.name = ${subject.zoneName} and z.kind = 'operator'`
        : sql`z.id = (select zone_id from domains where id = ${subject.domainId})`
    }`.execute(db);
  const [zone] = rows;
  return (
    zone && { subject, signed, zoneId: zone.id, apex: decodeNameColumn(zone.name), version: zone.version }
  );
}

interface Piece {
  readonly made: number;
  /** The last owner, in stored form. Undefined if no owner after it is due. */
  readonly last: string | undefined;
  /** True if names changed in the meantime, whose signatures were not renewed. */
  readonly isChanged: boolean;
}

/** Renews due signatures of owners after `after`. */
async function refreshPiece(
  db: Database,
  due: Due,
  { after, salt }: { readonly after: string; readonly salt: number },
): Promise<Piece> {
  const { zoneId, apex, signed } = due;
  const at = Math.floor((await currentTime(db)).getTime() / 1000);
  const found = await dueOwners(db, zoneId, remakeBefore(at, 'refresh'), after);
  if (found.length === 0) return { made: 0, last: undefined, isChanged: false };
  const owners = found.map(({ owner }) => decodeNameColumn(owner));
  const signatures = found.reduce((sum, { due: count }) => sum + count, 0);
  const last = signatures < PIECE ? undefined : found.at(-1)?.owner;
  const signers: Signers = {
    apex,
    keys: await zoneKeys(db, signed),
    remakeBefore: remakeBefore(at, 'refresh'),
  };
  const times = signatureTimes(apex, at, salt);
  const others = await readOwners(
    db,
    zoneId,
    owners.filter((owner) => owner !== apex),
  );
  const plan = planRefresh(others, signers);
  const rows = plan.rows(await signSets(plan.toSign, { zone: apex, times }));
  return await inTransaction(db, async (trx) => {
    const locked = await lockSubject(trx, due.subject);
    if (locked === undefined || !isSame(locked, due)) return { made: 0, last, isChanged: true };
    const written = await writeRefreshed(trx, locked, rows, { signers, times, since: due.version });
    return { made: plan.toSign.length + written.atApex, last, isChanged: written.isChanged };
  });
}

/** Returns owners in order, with the number of their due signatures, up to `PIECE` in total. */
async function dueOwners(
  db: Database,
  zoneId: number,
  before: number,
  after: string,
): Promise<{ owner: string; due: number }[]> {
  const { rows } = await sql<{ owner: string; due: number }>`
    select owner, count(*)::integer as due from (
      select owner from zone_records
      where zone_id = ${zoneId} and owner > ${after} and type = 46 and not removed and ${EXPIRATION} < ${before}
      order by owner limit ${PIECE}) found
    group by owner order by owner`.execute(db);
  return rows;
}

/** The expiration in RRSIG rdata (RFC 4034 §3.1). */
const EXPIRATION = sql`(get_byte(rdata, 8)::bigint * 16777216 + get_byte(rdata, 9) * 65536
  + get_byte(rdata, 10) * 256 + get_byte(rdata, 11))`;

function isSame({ signed, zone }: LockedSubject, due: Due): boolean {
  if (zone === undefined || zone.deleted || zone.id !== due.zoneId || !isWrittenSigned(signed)) return false;
  const keysOf = ({ keys }: SignedZone) => keys.map(({ id, signs }) => `${id} ${signs}`).join();
  return signed.seq === due.signed.seq && keysOf(signed) === keysOf(due.signed);
}

/** Returns the number of new signatures at the apex, and whether other names were skipped because they changed. */
async function writeRefreshed(
  trx: Database,
  locked: LockedSubject,
  rows: readonly OwnerRows[],
  { signers, times, since }: { signers: Signers; times: SignatureTimes; since: number },
): Promise<{ atApex: number; isChanged: boolean }> {
  const { apex } = locked;
  const zone = locked.zone as LockedZone;
  const changed = await changedOwners(trx, zone.id, rows, since);
  const apexRows = await readOwners(trx, zone.id, [apex]);
  const plan = planRefresh(
    apexRows.filter((record) => !isOfSoa(record)),
    signers,
  );
  const atApex = plan.rows(await signSets(plan.toSign, { zone: apex, times }));
  const owners = [...atApex, ...rows.filter(({ owner }) => !changed.has(encodeNameColumn(owner)))];
  await writeOwners(trx, locked, owners, { times, present: apexRows, others: [signaturesRenewed(zone.id)] });
  return { atApex: plan.toSign.length + signers.keys.data.length, isChanged: changed.size > 0 };
}

async function changedOwners(
  trx: Database,
  zoneId: number,
  rows: readonly OwnerRows[],
  since: number,
): Promise<Set<string>> {
  const owners = rows.map(({ owner }) => encodeNameColumn(owner));
  const found = await sql<{ owner: string }>`
    select distinct owner from zone_records
    where zone_id = ${zoneId} and owner = any(${owners}::text[]) and version > ${since}`.execute(trx);
  return new Set(found.rows.map(({ owner }) => owner));
}

/** Records the earliest expiration, which determines the next refresh, and ends the lease. */
async function noteEarliest(db: Database, signedZoneId: number): Promise<number | null> {
  const { rows } = await sql<{ first: number | null }>`
    select min(${EXPIRATION}) as first from zone_records r
    where r.type = 46 and not r.removed and r.zone_id = (
      select z.id from signed_zones s left join domains d on d.id = s.domain_id
        join zones z on z.id = d.zone_id or (z.name = s.zone_name and z.kind = 'operator')
      where s.id = ${signedZoneId})`.execute(db);
  const first = rows[0]?.first ?? null;
  await sql`with ${leaseEnded(signedZoneId, first)} select`.execute(db);
  return first;
}
