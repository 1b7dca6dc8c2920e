// Saves a transfer: the whole zone, or the sets that an incremental transfer changed. Also marks expired copies. Each is one
// transaction, which locks the zone first and then the secondary's row.

import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import { secondsBetween } from '../../dns/dnssec/signature-time.ts';
import { readSignature } from '../../dns/dnssec/signed-octets.ts';
import { verifyZonemd, type ZonemdResult } from '../../dns/dnssec/zonemd.ts';
import { type Name, parentOf } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { lockDomain } from '../../store/change/lock-domain.ts';
import { marksOfCopy } from '../../store/change/write-domain-change.ts';
import { readOwners } from '../../store/keys/read-zone-rows.ts';
import { loadSignedZones } from '../../store/keys/signed-zone.ts';
import { currentTime } from '../../store/postgres/current-time.ts';
import type { Database } from '../../store/postgres/database.ts';
import { allowLong } from '../../store/postgres/deadlines.ts';
import { encodeNameColumn } from '../../store/postgres/name-column.ts';
import { announce, inTransaction, rollBackTo } from '../../store/postgres/transaction.ts';
import { OwnersInOrder } from '../../store/zones/owners-in-order.ts';
import {
  lockOperatorZones,
  noteVerbatim,
  RefusedZonesError,
  writeVerbatim,
} from '../../store/zones/save-zones.ts';
import { changedZone, type LockedZone, writeChanges, writeDifference } from '../../store/zones/write-zone.ts';
import {
  type Chunk,
  chunksOf,
  chunksOfOwners,
  type RecordRow,
  recordRows,
} from '../../store/zones/zone-rows.ts';
import { OwnersCheck } from '../../zone/check-owners.ts';
import type { OwnerRows } from '../../zone/signing/plan-rows.ts';
import { recordsByOwner } from '../../zone/signing/standing.ts';
import { applyDifferences, type TouchedSet, touchedSets } from '../../zone/transfer/apply-difference.ts';
import type { Difference } from '../../zone/transfer/read-transfer.ts';
import { expiredMarkOf, MARK_TYPE, privateMarkOf, type ZoneRecord } from '../../zone/zone.ts';
import type { ZoneProblem } from '../../zone/zone-problem.ts';
import { type LoadedSecondary, type Succeeded, saveSuccess } from './sql.ts';

/** Content of a transfer that was read completely. */
type Transfer =
  | { readonly kind: 'zone'; readonly records: readonly ZoneRecord[] }
  | { readonly kind: 'differences'; readonly differences: readonly Difference[] };

type SavedTransfer =
  /** `version` is the zone's version if it changed. */
  | { readonly kind: 'saved'; readonly version: number | undefined; readonly records: number }
  /** Another result was saved in the meantime, or the secondary was removed. */
  | { readonly kind: 'conflict' }
  /** The differences do not lead to a valid zone, or cannot be checked without the rest of it: transfer all of it. */
  | { readonly kind: 'needs_whole'; readonly why: string }
  /** `why` is a predicate whose subject is the zone. */
  | { readonly kind: 'invalid'; readonly why: string };

type Copy = Pick<LoadedSecondary, 'id' | 'apex' | 'seq' | 'domainId'>;
type Saved = Copy & Pick<LoadedSecondary, 'due' | 'now'> & { readonly maxRecords: number };

/** Makes the copy contain what was transferred, and records the success. An expired copy is answered again. */
export async function saveTransfer(
  db: Database,
  secondary: Saved,
  transfer: Transfer,
  succeeded: Succeeded,
): Promise<SavedTransfer> {
  const { apex } = secondary;
  const owners = transfer.kind === 'zone' ? await OwnersInOrder.of(transfer.records) : undefined;
  if (transfer.kind === 'zone') {
    const problems = await checkWhole(apex, transfer.records, owners as OwnersInOrder);
    if (problems.length > 0) return { kind: 'invalid', why: sentenceOf(problems) };
    const digest = await verifyDigest(apex, transfer.records);
    if (digest.kind === 'invalid') return { kind: 'invalid', why: `is not valid: ${digest.message}` };
  }
  try {
    const saved = await inTransaction<SavedTransfer>(db, async (trx) => {
      const copy = await lockCopy(trx, secondary);
      const { zone } = copy;
      const { isChanged, records } =
        transfer.kind === 'zone'
          ? await writeWhole(trx, copy, transfer.records, owners as OwnersInOrder)
          : await writeDifferences(trx, copy, transfer.differences);
      if (records > secondary.maxRecords)
        rollBackTo({ kind: 'invalid', why: `has more than ${secondary.maxRecords} records` });
      if (isChanged)
        await writeChanges(trx, [changedZone(zone, records)], 'zone.save', { source: 'transfer' });
      if (!(await saveSuccess(trx, secondary, succeeded))) rollBackTo({ kind: 'conflict' });
      if (isChanged && copy.isOfDomain)
        await sql`
          update domains set serial = ${succeeded.copy?.serial}, updated_at = clock_timestamp()
          where id = ${secondary.domainId}`.execute(trx);
      return { kind: 'saved', version: isChanged ? zone.nextVersion : undefined, records };
    });
    if (saved.kind === 'saved' && saved.version !== undefined) announce(db);
    return saved;
  } catch (error) {
    if (error instanceof RefusedZonesError) return { kind: 'invalid', why: error.why };
    throw error;
  }
}

/** Marks the copy as expired. Returns false if it need not expire, or another result was saved in the meantime. */
export async function expireCopy(db: Database, { id, apex, seq, domainId }: Copy): Promise<boolean> {
  const name = encodeNameColumn(apex);
  const isExpired = await inTransaction(db, async (trx) => {
    const zone =
      domainId === null
        ? (await lockOperatorZones(trx, [name], { create: false, copies: true })).get(name)
        : (await lockDomain(trx, domainId))?.zone;
    if (zone === undefined || zone.deleted) return false;
    const { numAffectedRows } = await sql`
      update secondaries set expired_at = clock_timestamp()
      where id = ${id} and seq = ${seq} and expired_at is null and expires_at <= clock_timestamp()`.execute(
      trx,
    );
    if (numAffectedRows !== 1n) return false;
    const marked = { owner: apex, types: [MARK_TYPE], records: [expiredMarkOf(apex)] };
    await writeChunks(trx, zone, chunksOfOwners(zone, apex, [marked]));
    await writeChanges(trx, [changedZone(zone, zone.records)], 'zone.save', { source: 'transfer' });
    return true;
  });
  if (isExpired) announce(db);
  return isExpired;
}

interface LockedCopy {
  readonly zone: LockedZone;
  readonly apex: Name;
  readonly isOfDomain: boolean;
  /** The mark at the apex of a domain's zone or of a catalog. */
  readonly marks: readonly ZoneRecord[];
}

/** Locks the zone. An operator zone is created if it does not exist. */
async function lockCopy(trx: Database, { id, apex, seq, domainId }: Copy): Promise<LockedCopy> {
  await allowLong(trx);
  const name = encodeNameColumn(apex);
  const domain = domainId === null ? undefined : await lockDomain(trx, domainId);
  const zone =
    domainId === null
      ? (await lockOperatorZones(trx, [name], { create: true, copies: true })).get(name)
      : domain?.zone;
  const { rows } = await sql`select from secondaries where id = ${id} and seq = ${seq}`.execute(trx);
  const isServed = domainId === null || domain?.row.served === 'full';
  if (rows.length === 0 || zone === undefined || !isServed) return rollBackTo({ kind: 'conflict' });
  const signed = domain?.signed ?? (await loadSignedZones(trx, [name])).get(name);
  if (signed !== undefined && signed.phase !== 'off')
    rollBackTo({
      kind: 'invalid',
      why: 'is signed by this fleet: remove its signatures first (dnssec disable)',
    });
  if (domain !== undefined)
    return { zone, apex, isOfDomain: true, marks: marksOfCopy(apex, domain.row.status) };
  const catalog = await sql`select from catalogs where name = ${name}`.execute(trx);
  return { zone, apex, isOfDomain: false, marks: catalog.rows.map(() => privateMarkOf(apex)) };
}

interface Written {
  readonly isChanged: boolean;
  /** Number of records of the zone. */
  readonly records: number;
}

async function writeChunks(trx: Database, zone: LockedZone, chunks: Iterable<Chunk>): Promise<Written> {
  let isChanged = zone.deleted;
  let { records } = zone;
  for (const chunk of chunks) {
    const growth = (await writeDifference(trx, chunk)).get(zone.id);
    if (growth === undefined) continue;
    isChanged = true;
    records += growth;
  }
  return { isChanged, records };
}

const OWNERS_A_STEP = 5000;

async function checkWhole(
  apex: Name,
  records: readonly ZoneRecord[],
  owners: OwnersInOrder,
): Promise<readonly ZoneProblem[]> {
  const dnames = dnamesIn(records);
  const check = new OwnersCheck(apex, (name) => dnames.has(name));
  let checked = 0;
  for (const ofOwner of owners) {
    check.add(ofOwner);
    if (++checked % OWNERS_A_STEP === 0) await setImmediate();
    if (check.hasProblems) break;
  }
  return check.end();
}

/** Verifies the digest of the zone if it has one (RFC 8976). */
async function verifyDigest(apex: Name, records: readonly ZoneRecord[]): Promise<ZonemdResult> {
  const hasDigest = records.some(({ owner, type }) => type === TYPE.ZONEMD && owner === apex);
  if (!hasDigest) return { kind: 'absent' };
  const verifying = verifyZonemd(apex, records);
  for (let step = verifying.next(); ; step = verifying.next()) {
    if (step.done) return step.value;
    await setImmediate();
  }
}

async function writeWhole(
  trx: Database,
  { zone, apex, isOfDomain, marks }: LockedCopy,
  records: readonly ZoneRecord[],
  owners: OwnersInOrder,
): Promise<Written> {
  const written = await writeChunks(trx, zone, chunksOf([{ zone, rows: rowsOf(apex, owners, marks) }]));
  if (!isOfDomain) await noteVerbatim(trx, [{ apex, records }]);
  return written;
}

function* rowsOf(apex: Name, owners: OwnersInOrder, marks: readonly ZoneRecord[]): Generator<RecordRow> {
  for (const records of owners)
    yield* recordRows(apex, records[0]?.owner === apex ? [...records, ...marks] : records);
}

/** Writes only the sets that the differences touch. */
async function writeDifferences(
  trx: Database,
  { zone, apex, isOfDomain, marks }: LockedCopy,
  differences: readonly Difference[],
): Promise<Written> {
  const needWhole = (why: string) => rollBackTo({ kind: 'needs_whole', why } satisfies SavedTransfer);
  if (zone.deleted) needWhole('there is no copy');
  const touched = touchedSets(differences);
  const stored = await readOwners(trx, zone.id, withNamesAbove(apex, touched));
  const applied = applyDifferences(stored, differences);
  if (applied.kind === 'wrong_chain') return needWhole(applied.message);
  if (touched.some(({ type }) => type === TYPE.DNAME)) needWhole('a DNAME is added or removed');
  const owners = changedOwners(apex, stored, applied.sets, marks);
  const dnames = dnamesIn(stored);
  const check = new OwnersCheck(apex, (name) => dnames.has(name));
  for (const { all } of owners) check.add(all);
  const problems = check.end();
  if (problems.length > 0) needWhole(sentenceOf(problems));
  const digested = owners.some(
    ({ owner, all }) => owner === apex && all.some(({ type }) => type === TYPE.ZONEMD),
  );
  if (digested) needWhole('the whole zone has a digest');
  const written = await writeChunks(trx, zone, chunksOfOwners(zone, apex, owners));
  if (!isOfDomain) await noteSignatures(trx, zone, differences);
  return written;
}

/** Returns the owners of the sets, and the names between them and the apex, which may have a DNAME. */
function withNamesAbove(apex: Name, sets: readonly { readonly owner: Name }[]): Name[] {
  const names = new Set<Name>([apex]);
  for (const { owner } of sets)
    for (let name = owner; !names.has(name); name = parentOf(name)) names.add(name);
  return [...names];
}

interface ChangedOwner extends OwnerRows {
  /** All records of the owner after the change. */
  readonly all: readonly ZoneRecord[];
}

function changedOwners(
  apex: Name,
  stored: readonly ZoneRecord[],
  sets: readonly TouchedSet[],
  marks: readonly ZoneRecord[],
): readonly ChangedOwner[] {
  const present = recordsByOwner(stored);
  const changed = new Map<Name, { types: number[]; records: ZoneRecord[] }>();
  for (const { owner, type, records } of sets) {
    const entry = changed.get(owner) ?? { types: [], records: [] };
    changed.set(owner, entry);
    entry.types.push(type);
    for (const record of records) entry.records.push(record);
  }
  return [...changed].map(([owner, { types, records }]) => {
    const replaced = owner === apex ? [...types, MARK_TYPE] : types; // a copy that was transferred has not expired
    const others = (present.get(owner) ?? []).filter(({ type }) => !replaced.includes(type));
    const written = owner === apex ? [...records, ...marks] : records;
    return { owner, types: replaced, records: written, all: [...others, ...records] };
  });
}

/** Updates the time at which the first signature expires. Reads all signatures only if the first one was removed. */
async function noteSignatures(
  trx: Database,
  { id, name }: LockedZone,
  differences: readonly Difference[],
): Promise<void> {
  const at = Math.floor((await currentTime(trx)).getTime() / 1000);
  const firstEnd = (records: readonly ZoneRecord[]) =>
    records.reduce(
      (end, { type, rdata }) =>
        type === TYPE.RRSIG ? Math.min(end, at + secondsBetween(at, readSignature(rdata).expiration)) : end,
      Number.POSITIVE_INFINITY,
    );
  const removed = firstEnd(differences.flatMap((difference) => difference.removed));
  const added = firstEnd(differences.flatMap((difference) => difference.added));
  if (removed === Number.POSITIVE_INFINITY && added === Number.POSITIVE_INFINITY) return;
  const noted = await sql<{ endsAt: number }>`
    select extract(epoch from expires_at)::float8 as "endsAt" from signed_zones
    where zone_name = ${name} and verbatim and expires_at is not null`.execute(trx);
  const endsAt = noted.rows[0]?.endsAt;
  if (endsAt !== undefined && endsAt < removed) {
    if (added < endsAt) await writeVerbatim(trx, [name], [{ name, endsAt: added }]);
    return;
  }
  const { rows } = await sql<{ left: number | null; isSigned: boolean }>`
    select min(mod(e.expiration - ${at} + 6442450944, 4294967296) - 2147483648)::float8 as left,
      coalesce(bool_or(r.owner = ${name} and get_byte(r.rdata, 1) = 6 and get_byte(r.rdata, 0) = 0), false) as "isSigned"
    from zone_records r cross join lateral (
      select ('x' || encode(substr(r.rdata, 9, 4), 'hex'))::bit(32)::bigint as expiration) e
    where r.zone_id = ${id} and r.type = ${TYPE.RRSIG} and not r.removed`.execute(trx);
  const { left = null, isSigned = false } = rows[0] ?? {};
  await writeVerbatim(trx, [name], left !== null && isSigned ? [{ name, endsAt: at + left }] : []);
}

function dnamesIn(records: readonly ZoneRecord[]): ReadonlySet<Name> {
  return new Set(records.flatMap(({ owner, type }) => (type === TYPE.DNAME ? [owner] : [])));
}

const SHOWN_PROBLEMS = 3;

function sentenceOf(problems: readonly ZoneProblem[]): string {
  const shown = problems.slice(0, SHOWN_PROBLEMS).map(({ message }) => message);
  const others = problems.length - shown.length;
  return `is not valid: ${shown.join('; ')}${others > 0 ? `; and ${others} more` : ''}`;
}
